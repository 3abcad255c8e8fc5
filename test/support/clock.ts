import { jest } from '@jest/globals';

/** All but Date. */
const TIMERS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'nextTick',
  'queueMicrotask',
  'performance',
  'hrtime',
] as const;

/** Works with a clock that is this far ahead. */
export async function ahead<Result>(durationMs: number, work: () => Promise<Result>): Promise<Result> {
  jest.useFakeTimers({ now: Date.now() + durationMs, doNotFake: [...TIMERS] });
  try {
    return await work();
  } finally {
    jest.useRealTimers();
  }
}

/** Starts something that works at intervals: the intervals never end. */
export function withoutIntervals(start: () => void): void {
  jest.useFakeTimers({ doNotFake: ['Date', ...TIMERS.filter((timer) => timer !== 'setInterval')] });
  try {
    start();
  } finally {
    jest.useRealTimers();
  }
}
