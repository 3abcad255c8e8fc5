import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Rows beyond the visible ones, so that the next one to focus is there. */
const OVERSCAN = 12;
/** The next page is fetched this many rows before the end. */
const ROWS_AHEAD = 30;
/** Between a row that is scrolled to and the edge of the screen, where bars may cover it. */
const SCROLL_PADDING_PX = 120;

interface VisibleRows {
  /** The element that holds the rows, as high as all of them. */
  readonly body: RefObject<HTMLDivElement | null>;
  readonly height: number;
  /** The rows to draw, each with its distance from the top of the body. */
  readonly rows: readonly { readonly index: number; readonly top: number }[];
  readonly scrollTo: (index: number) => void;
}

/**
 * Draws only the rows that are in view. Calls `onEnd` when the last ones come into view. `ids` are those of all rows.
 */
export function useVisibleRows(ids: readonly string[], rowHeight: number, onEnd: () => void): VisibleRows {
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  }, [rowHeight]);
  const virtualizer = useWindowVirtualizer({
    count: ids.length,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin: top,
    scrollPaddingStart: SCROLL_PADDING_PX,
    scrollPaddingEnd: SCROLL_PADDING_PX,
    getItemKey: (index) => ids[index] as string,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const items = virtualizer.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (ids.length > 0 && lastShown >= ids.length - ROWS_AHEAD) onEnd();
  }, [lastShown, ids.length, onEnd]);
  return {
    body,
    height: virtualizer.getTotalSize(),
    rows: items.map(({ index, start }) => ({ index, top: start - top })),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}
