import { describe, expect, it } from '@jest/globals';
import { nextState } from './retry-schedule.js';

const NOW = new Date('2026-11-23T00:00:00Z');

/** The seconds until the next attempt. */
function delayAfter(attempts: number, random: number) {
  const verdict = nextState(500, attempts, NOW, random);
  return verdict.status === 'pending' ? (verdict.nextAttemptAt.getTime() - NOW.getTime()) / 1000 : verdict.status;
}

describe('the schedule of retries', () => {
  it.each([
    [1, 5],
    [2, 300],
    [3, 1_800],
    [4, 7_200],
    [5, 18_000],
    [6, 36_000],
    [7, 36_000],
  ])('after attempt %d waits %d seconds, up to a fifth sooner or later', (attempts, seconds) => {
    expect(delayAfter(attempts, 0.5)).toBe(seconds);
    expect(delayAfter(attempts, 0)).toBe(0.8 * seconds);
    expect(delayAfter(attempts, 1)).toBe(1.2 * seconds);
  });

  it('ends after the eighth attempt, also for a replayed delivery', () => {
    expect(delayAfter(8, 0.5)).toBe('failed');
    expect(delayAfter(9, 0.5)).toBe('failed');
  });

  it.each([
    [200, 'delivered'],
    [299, 'delivered'],
    [199, 'pending'],
    [301, 'pending'],
    [308, 'pending'],
    [404, 'pending'],
    [410, 'pending'],
    [null, 'pending'],
  ])('takes %s as %s', (status, expected) => {
    expect(nextState(status, 1, NOW).status).toBe(expected);
  });
});
