/** How many records of a waitlist joined, were offboarded and erased on a day, and its offers: for statistics. */
import type { StoredWaiter } from '../record/waiter.js';

/** The counters of offers, on the day when each was made or ended. A return or an erasure takes none back. */
export const OFFER_FIELDS = ['offered', 'accepted', 'declined', 'expired'] as const;
/**
 * The counters that follow from records and offers. An erased record counts as erased alone: it leaves the counters of
 * its days, but not those of its offers.
 */
export const DERIVED_DAY_FIELDS = ['signups', 'referred', 'offboarded', 'erased', ...OFFER_FIELDS] as const;
/**
 * The counters of one day. `departed` counts the people who left the queue by an offer or by the owner. A return or an
 * erasure takes none back, so it cannot be derived from records.
 */
export const DAY_FIELDS = [...DERIVED_DAY_FIELDS, 'departed'] as const;

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

/** A day on which nothing happened. */
export const NO_COUNTS = Object.fromEntries(DAY_FIELDS.map((field) => [field, 0])) as Record<
  (typeof DAY_FIELDS)[number],
  number
>;

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

  countDeparture(day: string, amount: number): void {
    this.on(day).departed += amount;
  }

  countOffer(field: (typeof OFFER_FIELDS)[number], day: string, amount = 1): void {
    this.on(day)[field] += amount;
  }

  /** The days with changed counters, first one first: the same order everywhere, so that writers do not deadlock. */
  changed(): DayCounts[] {
    return Array.from(this.byDay, ([day, counts]) => ({ day, ...counts }))
      .filter((counts) => DAY_FIELDS.some((field) => counts[field] !== 0))
      .sort((one, other) => (one.day < other.day ? -1 : 1));
  }

  private on(day: string) {
    const counts = this.byDay.get(day) ?? { ...NO_COUNTS };
    this.byDay.set(day, counts);
    return counts;
  }
}
