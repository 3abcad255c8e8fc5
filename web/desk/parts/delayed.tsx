import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import { type ReactNode, useEffect, useState } from 'react';

const DELAY_MS = 200;

/** What follows one that is on the screen shows at once: the page would blink if it waited again. */
let shownCount = 0;

/**
 * Shows that something loads, but only if it takes long enough to be noticed. In place of a page, `as` is its heading.
 */
export function Delayed({ as = 'span', children }: { as?: 'h1' | 'span'; children: ReactNode }) {
  const [isDue, setIsDue] = useState(shownCount > 0);
  useTimeout(() => setIsDue(true), DELAY_MS, { autoInvoke: true });
  useEffect(() => {
    if (!isDue) return;
    shownCount++;
    return () => {
      shownCount--;
    };
  }, [isDue]);
  if (!isDue) return null;
  return (
    <div role="status">
      <VisuallyHidden component={as}>Loading</VisuallyHidden>
      {children}
    </div>
  );
}

/** In place of a page whose code or data is on its way. */
export function PageSkeleton() {
  return (
    <Delayed as="h1">
      <Stack aria-hidden>
        <Skeleton height={32} width={180} />
        <Skeleton height={96} />
        <Skeleton height={240} />
      </Stack>
    </Delayed>
  );
}
