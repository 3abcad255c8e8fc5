import { dayAfter, type DayCounts } from '../queue/order/day-counts.js';
import type { Span } from '../queue/read/queue.statistics.js';

const WEEK_DAYS = 7;
const WEEKS = 4;
/** With fewer weeks in which people left, there is no estimate. */
const WEEKS_MIN = 2;
/** Beyond this, there is no estimate. */
const DAYS_MAX = 365;

/** Days in UTC, such as `2026-11-22`: when a person may leave the queue, at the earliest and at the latest. */
export interface Estimate {
  readonly from: string;
  readonly to: string;
}

/** The last four full ISO weeks before a day, from a Monday to a Sunday. */
export function weeksBefore(today: string): Span {
  const weekday = new Date(`${today}T00:00:00Z`).getUTCDay();
  const monday = dayAfter(today, -((weekday + 6) % WEEK_DAYS));
  return { from: dayAfter(monday, -WEEKS * WEEK_DAYS), to: dayAfter(monday, -1) };
}

/**
 * When a person at a position may leave the queue, at the pace of the fastest and of the slowest of the weeks in which
 * somebody left. `days` are those of {@link weeksBefore}. Null if they are too few, or the latest day is too far away.
 */
export function estimate(
  priority: number,
  today: string,
  days: readonly Pick<DayCounts, 'day' | 'departed'>[],
): Estimate | null {
  const { from } = weeksBefore(today);
  const weeks = Array.from({ length: WEEKS }, (_, week) => {
    const [first, end] = [dayAfter(from, week * WEEK_DAYS), dayAfter(from, (week + 1) * WEEK_DAYS)];
    return days.filter(({ day }) => first <= day && day < end).reduce((sum, { departed }) => sum + departed, 0);
  }).filter((departed) => departed > 0);
  if (weeks.length < WEEKS_MIN) return null;
  const daysAt = (perWeek: number) => Math.ceil(((priority + 1) * WEEK_DAYS) / perWeek);
  const latest = daysAt(Math.min(...weeks));
  if (latest > DAYS_MAX) return null;
  return { from: dayAfter(today, daysAt(Math.max(...weeks))), to: dayAfter(today, latest) };
}
