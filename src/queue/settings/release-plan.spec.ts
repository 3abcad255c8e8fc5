import { describe, expect, it } from '@jest/globals';
import { nextRuns, type ReleasePlan, runsBetween, savedPlan, type SavedPlan, timeZoneOf } from './release-plan.js';

const LONG_AGO = '2000-01-01T00:00:00.000Z';
const HOURLY: SavedPlan = {
  every: 'hour',
  weekdays: null,
  at: null,
  time_zone: 'UTC',
  count: 50,
  seats: null,
  until: null,
  is_active: true,
  saved_at: LONG_AGO,
};
const DAILY: SavedPlan = { ...HOURLY, every: 'day', weekdays: [1, 2, 3, 4, 5, 6, 7], at: '09:00' };

/** The next times after a moment, without seconds. */
function next(plan: SavedPlan, after: string, count = 3): string[] {
  return nextRuns(plan, new Date(`${after}Z`), count).map(short);
}

function between(plan: SavedPlan, after: string, to: string, countMax = 100): string[] {
  return runsBetween(plan, new Date(`${after}Z`), new Date(`${to}Z`), countMax).map(short);
}

function short(time: Date): string {
  expect(time.toISOString().slice(16)).toBe(':00.000Z');
  return time.toISOString().slice(0, 16);
}

describe('a plan by the hour runs', () => {
  it("at minute 0 of the zone's clock, after the moment", () => {
    expect(next(HOURLY, '2026-11-27T10:00')).toEqual(['2026-11-27T11:00', '2026-11-27T12:00', '2026-11-27T13:00']);
    expect(next(HOURLY, '2026-11-27T10:59:59.999', 1)).toEqual(['2026-11-27T11:00']);
    expect(next({ ...HOURLY, time_zone: 'Asia/Kolkata' }, '2026-11-27T10:00', 2)).toEqual([
      '2026-11-27T10:30',
      '2026-11-27T11:30',
    ]);
    expect(next({ ...HOURLY, time_zone: 'Asia/Kathmandu' }, '2026-11-27T10:00', 1)).toEqual(['2026-11-27T10:15']);
  });

  it('every hour that passes, whatever clocks do', () => {
    const berlin = { ...HOURLY, time_zone: 'Europe/Berlin' };
    // 01:00, then 03:00.
    expect(next(berlin, '2026-03-28T23:30', 3)).toEqual(['2026-03-29T00:00', '2026-03-29T01:00', '2026-03-29T02:00']);
    // 02:00 twice.
    expect(next(berlin, '2026-10-24T23:30', 3)).toEqual(['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00']);
  });

  it('at minute 0 in a zone whose clocks change by half an hour', () => {
    const island = { ...HOURLY, time_zone: 'Australia/Lord_Howe' };
    // At 02:00 clocks show 01:30: 01:00, 02:00, 03:00.
    expect(next(island, '2026-04-04T13:30', 3)).toEqual(['2026-04-04T14:00', '2026-04-04T15:30', '2026-04-04T16:30']);
    // At 02:00 clocks show 02:30: 01:00, 03:00, 04:00.
    expect(next(island, '2026-10-03T13:30', 3)).toEqual(['2026-10-03T14:30', '2026-10-03T16:00', '2026-10-03T17:00']);
    // At 23:30 clocks show 00:00.
    expect(next({ ...HOURLY, time_zone: 'Asia/Pyongyang' }, '2018-05-04T14:00', 3)).toEqual([
      '2018-05-04T14:30',
      '2018-05-04T15:00',
      '2018-05-04T16:00',
    ]);
  });

  it('up to the end of the last day, by the calendar of the zone', () => {
    const plan = { ...HOURLY, time_zone: 'America/New_York', until: '2026-11-27' };
    expect(next(plan, '2026-11-28T03:00', 5)).toEqual(['2026-11-28T04:00']);
    expect(next(plan, '2026-11-28T04:00', 5)).toEqual([]);
  });
});

describe('a plan by the day runs', () => {
  it('at its time in the zone, in summer and winter', () => {
    const plan = { ...DAILY, time_zone: 'Europe/Berlin' };
    expect(next(plan, '2026-10-24T06:00')).toEqual(['2026-10-24T07:00', '2026-10-25T08:00', '2026-10-26T08:00']);
  });

  it('on the chosen days of the week alone', () => {
    const plan = { ...DAILY, weekdays: [1, 5] };
    // A Friday.
    expect(next(plan, '2026-11-27T09:00', 3)).toEqual(['2026-11-30T09:00', '2026-12-04T09:00', '2026-12-07T09:00']);
    // Monday in Auckland is Sunday in UTC.
    expect(next({ ...plan, weekdays: [1], time_zone: 'Pacific/Auckland' }, '2026-11-27T00:00', 1)).toEqual([
      '2026-11-29T20:00',
    ]);
  });

  it('as late as clocks skip its time, and the first time where it comes twice', () => {
    const plan = { ...DAILY, at: '02:30', time_zone: 'Europe/Berlin' };
    // 03:30 instead.
    expect(next(plan, '2026-03-28T12:00', 2)).toEqual(['2026-03-29T01:30', '2026-03-30T00:30']);
    expect(next(plan, '2026-10-24T12:00', 2)).toEqual(['2026-10-25T00:30', '2026-10-26T01:30']);
    // The second 02:30 is past; it is no time of its own.
    expect(next(plan, '2026-10-25T00:30', 1)).toEqual(['2026-10-26T01:30']);
  });

  it('once where a zone skips a whole day', () => {
    expect(next({ ...DAILY, time_zone: 'Pacific/Apia' }, '2011-12-29T12:00')).toEqual([
      '2011-12-29T19:00',
      '2011-12-30T19:00',
      '2011-12-31T19:00',
    ]);
  });

  it('on its last day too', () => {
    const plan = { ...DAILY, time_zone: 'Pacific/Auckland', until: '2026-11-28' };
    expect(next(plan, '2026-11-26T00:00', 5)).toEqual(['2026-11-26T20:00', '2026-11-27T20:00']);
    expect(next({ ...plan, weekdays: [7] }, '2026-11-26T00:00', 5)).toEqual([]);
  });
});

describe('of a plan', () => {
  it.each([HOURLY, DAILY])('only times after it was saved exist ($every)', (plan) => {
    const saved = { ...plan, saved_at: '2026-11-27T09:00:00.000Z' };
    const after = plan.every === 'hour' ? '2026-11-27T10:00' : '2026-11-28T09:00';
    expect(next(saved, '2026-01-01T00:00', 1)).toEqual([after]);
    expect(between(saved, '2026-01-01T00:00', '2026-11-27T09:30')).toEqual([]);
  });

  it('that is paused there are no times', () => {
    const plan = { ...HOURLY, is_active: false };
    expect(next(plan, '2026-11-27T10:00')).toEqual([]);
    expect(between(plan, '2026-11-27T10:00', '2026-11-27T12:00')).toEqual([]);
  });

  it('the times between two moments are those after the first, the second included', () => {
    expect(between(HOURLY, '2026-11-27T10:00', '2026-11-27T12:00')).toEqual(['2026-11-27T11:00', '2026-11-27T12:00']);
    expect(between(HOURLY, '2026-11-27T10:00', '2026-11-27T10:59:59.999')).toEqual([]);
  });

  it.each([
    ['hours', HOURLY, '2026-11-27T10:00', '2026-11-23T07:00'],
    ['days', DAILY, '2026-11-27T09:00', '2026-08-20T09:00'],
    ['weeks', { ...DAILY, weekdays: [5] }, '2026-11-27T09:00', '2025-01-03T09:00'],
  ])('the last hundred times of an outage of years are found, by the %s', (_, plan, last, first) => {
    const times = between(plan, '2001-01-01T00:00', '2026-11-27T10:00');
    expect([times.length, times[0], times.at(-1)]).toEqual([100, first, last]);
  });

  it('that is sent back as it was read, the times stay', () => {
    const plan: ReleasePlan = { ...DAILY, saved_at: undefined } as never;
    expect(savedPlan(DAILY, plan, new Date())).toBe(DAILY);
    const now = new Date('2026-11-27T10:00:00Z');
    expect(savedPlan(DAILY, { ...plan, count: 51 }, now)).toMatchObject({ count: 51, saved_at: now.toISOString() });
    expect(savedPlan(DAILY, null, now)).toBeNull();
  });
});

it('knows time zones by their names', () => {
  const names = ['Europe/Berlin', 'europe/berlin', 'UTC', 'Etc/GMT+5', 'Mars/Base', '+02:00', '-05', '', 'Z'];
  expect(names.map(timeZoneOf)).toEqual([
    'Europe/Berlin',
    'Europe/Berlin',
    'UTC',
    'Etc/GMT+5',
    null,
    null,
    null,
    null,
    null,
  ]);
});
