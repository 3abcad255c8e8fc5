import { useEffect, useRef } from 'react';

/**
 * Restores the focus that a dialog takes, or that is lost with a button which its act disables or removes. The caller
 * calls the returned function before that, which remembers the element, by default the focused one; the focus returns
 * when `isTaken` becomes false, unless the user has moved it meanwhile. If the element is gone or disabled by then, the
 * focus goes to the table row that Tab reaches, else to the heading of the page or the panel.
 */
export function useFocusKeeper(isTaken: boolean): (element?: Element | null) => void {
  const kept = useRef<{ element: Element | null; place: ParentNode | null }>(null);
  useEffect(() => {
    if (isTaken || kept.current === null) return;
    const { element, place } = kept.current;
    kept.current = null;
    const focused = document.activeElement;
    if (focused !== element && place?.contains(focused)) return;
    const candidates = [
      element,
      place?.querySelector('[role="grid"] [role="row"][tabindex="0"]'),
      place?.querySelector('h1, button'),
    ];
    for (const candidate of candidates) {
      // An inert element can be focused, but loses the focus at the next frame.
      if (!(candidate instanceof HTMLElement) || !candidate.isConnected || candidate.closest('[inert]')) continue;
      candidate.focus({ preventScroll: true });
      if (document.activeElement === candidate) return;
    }
  }, [isTaken]);
  return (element = document.activeElement) => {
    kept.current = { element, place: element?.closest('[role="dialog"]') ?? document.getElementById('page') };
  };
}
