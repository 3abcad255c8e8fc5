import { type ReactNode, useEffect, useState } from 'react';

/** Shorter waits show nothing: a flash of a skeleton is worse than none. */
const SKELETON_DELAY_MS = 200;

/** Its children, after a moment: for the state of loading. */
export function Delayed({ children }: { children: ReactNode }) {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), SKELETON_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return isShown ? children : null;
}
