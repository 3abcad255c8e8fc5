import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';

const ROWS_PER_PAGE_KEY = 10;

interface ActiveRow {
  /** The row that the Tab key reaches. */
  readonly active: number;
  readonly setActive: (index: number) => void;
  /** Scrolls to a row and gives it the focus. */
  readonly goTo: (index: number) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/**
 * The keyboard of a grid whose rows are drawn as they come into view: arrows, Page keys, Home and End move between the
 * rows, and `acts` are what other keys do with the active one. Drawn rows of `body` have their number as `data-index`.
 */
export function useActiveRow(
  body: RefObject<HTMLElement | null>,
  rowCount: number,
  scrollTo: (index: number) => void,
  acts: Readonly<Record<string, (index: number) => void>>,
): ActiveRow {
  const [chosen, setActive] = useState(0);
  const active = Math.min(chosen, rowCount - 1);
  /** The row that takes the focus as soon as it is drawn. */
  const wanted = useRef<number | null>(null);
  const focusWanted = () => {
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"]`);
    if (!row) return;
    row.focus({ preventScroll: true });
    wanted.current = null;
  };
  useEffect(focusWanted);
  const goTo = (index: number) => {
    wanted.current = Math.max(0, Math.min(rowCount - 1, index));
    setActive(wanted.current);
    scrollTo(wanted.current);
    focusWanted();
  };
  const moves: Readonly<Record<string, (index: number) => void>> = {
    ArrowDown: (index) => goTo(index + 1),
    ArrowUp: (index) => goTo(index - 1),
    PageDown: (index) => goTo(index + ROWS_PER_PAGE_KEY),
    PageUp: (index) => goTo(index - ROWS_PER_PAGE_KEY),
    Home: () => goTo(0),
    End: () => goTo(rowCount - 1),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.closest('[role=columnheader]')) return;
    const act = moves[event.key] ?? acts[event.key];
    if (!act) return;
    event.preventDefault();
    act(active);
  };
  return { active, setActive, goTo, onKeyDown };
}

/** Gives the focus back to the row of a person when their panel closes. `openId` is the id of the open one. */
export function useFocusReturn(
  openId: string | undefined,
  ids: readonly string[],
  goTo: (index: number) => void,
): void {
  const lastOpen = useRef(openId);
  useEffect(() => {
    const closed = openId === undefined ? lastOpen.current : undefined;
    lastOpen.current = openId;
    const index = closed === undefined ? -1 : ids.indexOf(closed);
    if (index >= 0) goTo(index);
  });
}
