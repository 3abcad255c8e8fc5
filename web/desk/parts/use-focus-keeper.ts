import { useEffect, useRef } from 'react';

/**
 * Restores the focus after what took it: a dialog, or a button that goes with its act. `isTaken` lasts from the call of
 * the returned function, which remembers the focused element. If that is gone or disabled by then, the focus goes to
 * the table row that Tab reaches, else to the heading of the page or the panel.
 */
export function useFocusKeeper(isTaken: boolean): () => void {
  const kept = useRef<{ element: Element | null; place: ParentNode | null }>(null);
  useEffect(() => {
    if (isTaken || kept.current === null) return;
    const { element, place } = kept.current;
    kept.current = null;
    const candidates = [
      element,
      place?.querySelector('[role="grid"] [role="row"][tabindex="0"]'),
      place?.querySelector('h1, button'),
    ];
    for (const candidate of candidates) {
      // What has become inert loses the focus later, so it would seem to take it.
      if (!(candidate instanceof HTMLElement) || !candidate.isConnected || candidate.closest('[inert]')) continue;
      candidate.focus({ preventScroll: true });
      if (document.activeElement === candidate) return;
    }
  }, [isTaken]);
  return () => {
    const element = document.activeElement;
    kept.current = { element, place: element?.closest('[role="dialog"]') ?? document.getElementById('page') };
  };
}
