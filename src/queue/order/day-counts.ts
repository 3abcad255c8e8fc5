/** How many records of a waitlist joined, were offboarded and were erased on a day: the counters of statistics. */
import type { StoredWaiter } from '../record/waiter.js';

/** The counters of one day. An erased record counts as erased alone: it leaves the other counters of its days. */
export const DAY_FIELDS = ['signups', 'referred', 'offboarded', 'erased'] as const;

export interface DayCounts extends Readonly<Record<(typeof DAY_FIELDS)[number], number>> {
  /** In UTC, such as `2026-11-22`. */
  readonly day: string;
}

/** The days of a record, and whether another one referred it. */
interface RecordDays {
  readonly joined: string;
  readonly offboarded: string | null;
  readonly referred: boolean;
}

/** The day of a moment in UTC. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The day that comes this many days after another; before it, if `days` is negative. */
export function dayAfter(day: string, days: number): string {
  const midnight = new Date(`${day}T00:00:00Z`);
  midnight.setUTCDate(midnight.getUTCDate() + days);
  return dayOf(midnight);
}

export function daysOf({ createdAt, removedAt, referred }: Pick<StoredWaiter, 'createdAt' | 'removedAt' | 'referred'>) {
  return { joined: dayOf(createdAt), offboarded: removedAt && dayOf(removedAt), referred } satisfies RecordDays;
}

/** Changes of the counters, gathered from many records. */
export class DayChanges {
  private readonly byDay = new Map<string, { -readonly [Field in (typeof DAY_FIELDS)[number]]: number }>();

  /** Counts a record; with -1, takes it out. */
  count({ joined, offboarded, referred }: RecordDays, amount: 1 | -1): void {
    const day = this.on(joined);
    day.signups += amount;
    if (referred) day.referred += amount;
    if (offboarded !== null) this.on(offboarded).offboarded += amount;
  }

  /** Counts the erasure of a record, which {@link count} takes out. */
  countErasure(day: string): void {
    this.on(day).erased += 1;
  }

  /** The days with changed counters, first one first: the same order everywhere, so that writers do not deadlock. */
  changed(): DayCounts[] {
    return Array.from(this.byDay, ([day, counts]) => ({ day, ...counts }))
      .filter((counts) => DAY_FIELDS.some((field) => counts[field] !== 0))
      .sort((one, other) => (one.day < other.day ? -1 : 1));
  }

  private on(day: string) {
    const counts = this.byDay.get(day) ?? { signups: 0, referred: 0, offboarded: 0, erased: 0 };
    this.byDay.set(day, counts);
    return counts;
  }
}
