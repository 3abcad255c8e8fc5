import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readConfig } from '../platform/config/config.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Problem } from '../platform/problems/problem.js';
import { Backoff, type Pace } from './backoff.js';
import { AT_ADDRESS, paceOnAccount } from './login-throttle.js';

const MEMORY_SECONDS = 86_400;
const PACE: Pace = { freeMax: 2, waitSecondsMin: 10, waitSecondsMax: 60 };

describe('a backoff', () => {
  let backoff: Backoff;
  beforeEach(() => {
    jest.useFakeTimers();
    const counts = new SharedCounts(readConfig({ JWT_SECRET: 'test-secret-test-secret-test-secret' }));
    backoff = new Backoff(counts, 'test', MEMORY_SECONDS);
  });
  afterEach(() => void jest.useRealTimers());

  /** 0 where it was let in, else the seconds to wait. */
  const attempt = async (work: () => Promise<string | null>, key = 'key', pace = PACE): Promise<number> => {
    try {
      await backoff.during(key, pace, work);
      return 0;
    } catch (error) {
      if (error instanceof Problem && error.code === 'TOO_MANY_ATTEMPTS') return error.retryAfterSeconds ?? NaN;
      throw error;
    }
  };
  const fail = (key?: string, pace?: Pace) => attempt(() => Promise.resolve(null), key, pace);
  const succeed = () => attempt(() => Promise.resolve('done'));

  it('doubles the wait with each failure past the free ones, up to a bound', async () => {
    expect([await fail(), await fail()]).toEqual([0, 0]);

    for (const waitSeconds of [10, 20, 40, 60, 60]) {
      expect(await fail()).toBe(0);
      expect(await fail()).toBe(waitSeconds);
      jest.advanceTimersByTime((waitSeconds - 1) * 1000);
      expect(await fail()).toBe(1);
      jest.advanceTimersByTime(1000);
    }
  });

  it('lets one of many in where it is a turn', async () => {
    for (let count = 0; count < 3; count += 1) await fail();
    jest.advanceTimersByTime(10_000);

    const waits = await Promise.all(Array.from({ length: 10 }, () => fail()));

    expect(waits.filter((seconds) => seconds === 0)).toHaveLength(1);
  });

  it('counts neither what succeeds nor what breaks', async () => {
    for (let count = 0; count < 10; count += 1) {
      expect(await succeed()).toBe(0);
      await expect(attempt(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    }
  });

  it.each([
    ['succeeds', succeed],
    ['breaks', () => attempt(() => Promise.reject(new Error('away'))).catch(() => 0)],
  ])('gives back the turn of what %s', async (_, passes) => {
    for (let count = 0; count < 3; count += 1) await fail();
    jest.advanceTimersByTime(10_000);

    expect(await passes()).toBe(0);

    expect([await fail(), await fail()]).toEqual([0, 20]);
  });

  it('forgets when the time for it has passed', async () => {
    for (let count = 0; count < 3; count += 1) await fail();

    jest.advanceTimersByTime(MEMORY_SECONDS * 1000);

    expect([await fail(), await fail(), await fail(), await fail()]).toEqual([0, 0, 0, 10]);
  });

  it('knows keys apart', async () => {
    for (let count = 0; count < 3; count += 1) await fail('one');

    expect(await fail('one')).toBe(10);
    expect(await fail('other')).toBe(0);
  });

  it.each([
    ['a network on an account', 64, paceOnAccount],
    ['a network on an account that many guess at', 30, (failures: number) => paceOnAccount(failures + 50)],
    ['an address on whatever account', 149, () => AT_ADDRESS],
  ])('leaves %s so many guesses a day: %i', async (_, guessesADay, paceOf) => {
    let guesses = 0;
    for (let elapsedSeconds = 0; elapsedSeconds < MEMORY_SECONDS;) {
      const waitSeconds = await fail('key', paceOf(guesses + 1));
      if (waitSeconds === 0) guesses += 1;
      jest.advanceTimersByTime(waitSeconds * 1000);
      elapsedSeconds += waitSeconds;
    }

    expect(guesses).toBe(guessesADay);
  });
});
