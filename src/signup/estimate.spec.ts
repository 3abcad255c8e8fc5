import { describe, expect, it } from '@jest/globals';
import { estimate, weeksBefore } from './estimate.js';

/** A Wednesday. Its last four full weeks begin on October 26. */
const TODAY = '2026-11-25';
/** People who left in each of the four weeks, on its first day and on its last. */
const weeks = (...counts: readonly number[]) =>
  counts.flatMap((count, week) => [
    { day: ['2026-10-26', '2026-11-02', '2026-11-09', '2026-11-16'][week]!, departed: Math.floor(count / 2) },
    { day: ['2026-11-01', '2026-11-08', '2026-11-15', '2026-11-22'][week]!, departed: Math.ceil(count / 2) },
  ]);

describe('weeksBefore', () => {
  it.each([
    ['2026-11-23', '2026-10-26', '2026-11-22'],
    [TODAY, '2026-10-26', '2026-11-22'],
    ['2026-11-29', '2026-10-26', '2026-11-22'],
    ['2026-11-30', '2026-11-02', '2026-11-29'],
    ['2027-01-01', '2026-11-30', '2026-12-27'],
  ])('knows the last four full ISO weeks before %s', (today, from, to) => {
    expect(weeksBefore(today)).toEqual({ from, to });
  });
});

describe('estimate', () => {
  it.each([
    [0, '2026-11-26', '2026-11-26'],
    [6, '2026-11-30', '2026-12-02'],
    [9, '2026-12-02', '2026-12-05'],
    // A quotient that floating-point numbers round up.
    [28, '2026-12-16', '2026-12-24'],
  ])('gives a person at %i the days by the best week and by the slowest', (priority, from, to) => {
    expect(estimate(priority, TODAY, weeks(7, 0, 10, 9))).toEqual({ from, to });
  });

  it('needs two weeks in which somebody left', () => {
    expect(estimate(0, TODAY, weeks(0, 0, 50, 0))).toBeNull();
    expect(estimate(0, TODAY, [])).toBeNull();
    expect(estimate(0, TODAY, weeks(0, 1, 0, 1))).toEqual({ from: '2026-12-02', to: '2026-12-02' });
  });

  it('reads neither this week nor the week before those four', () => {
    const others = [
      { day: '2026-10-25', departed: 100 },
      { day: '2026-11-23', departed: 100 },
      { day: TODAY, departed: 100 },
    ];

    expect(estimate(9, TODAY, [...others, ...weeks(7, 7, 0, 0)])).toEqual(estimate(9, TODAY, weeks(7, 7, 0, 0)));
  });

  it('gives no day beyond a year', () => {
    expect(estimate(364, TODAY, weeks(7, 0, 0, 7))?.to).toBe('2027-11-25');
    expect(estimate(365, TODAY, weeks(7, 0, 0, 7))).toBeNull();
    expect(estimate(10_000_000, TODAY, weeks(1_000_000, 0, 0, 1))).toBeNull();
  });
});
