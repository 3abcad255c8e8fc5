/** Between the attempts to send something: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
const DELAYS_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
/** A delay varies by this share in both directions, so that sends that failed together are not repeated together. */
const JITTER = 0.2;

/** The delay after a number of failed attempts; null after the last one. `random` is from 0 to 1. */
export function retryDelayMs(attempts: number, random = Math.random()): number | null {
  const seconds = DELAYS_SECONDS[attempts - 1];
  return seconds === undefined ? null : seconds * 1000 * (1 + JITTER * (2 * random - 1));
}
