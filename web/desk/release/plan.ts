import type { Waitlist } from '../queries';
import type { components } from '../generated/openapi';
import { count, countPeople } from '../parts/format';

export type ReleasePlan = NonNullable<Waitlist['release_plan']>;
type PlannedRelease = NonNullable<components['schemas']['UpdateWaitlist']['release_plan']>;

/** 1 to 7 for Monday to Sunday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;
/** January 1, 2024, was a Monday. */
const weekdayNames = (weekday: 'short' | 'long') => {
  const format = new Intl.DateTimeFormat(undefined, { weekday, timeZone: 'UTC' });
  return WEEKDAYS.map((day) => format.format(Date.UTC(2024, 0, day)));
};
export const WEEKDAY_NAMES = weekdayNames('long');
const SHORT_NAMES = weekdayNames('short');

/** A plan as a request has it, without the fields that only responses have. */
export function plannedOf({ every, weekdays, at, time_zone, count, seats, until, is_active }: ReleasePlan) {
  return {
    every,
    weekdays: weekdays && [...weekdays],
    at,
    time_zone,
    count,
    seats,
    until,
    is_active,
  } satisfies PlannedRelease;
}

/** When and how many, such as “50 people every day at 09:00, by the clock of Europe/Berlin”. */
export function planSentence({ every, weekdays, at, time_zone: zone, count: number, until }: ReleasePlan): string {
  const days =
    weekdays === null || weekdays.length === WEEKDAYS.length
      ? 'every day'
      : `on ${new Intl.ListFormat('en').format(weekdays.map((day) => SHORT_NAMES[day - 1] ?? ''))}`;
  const when = every === 'hour' ? 'every hour' : `${days} at ${at ?? ''}`;
  const end = until === null ? '' : `, until ${DATE.format(new Date(until))}`;
  return `Offers ${countPeople(number)} a seat ${when}, by the clock of ${zone}${end}.`;
}

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

export function seatsSentence({ seats, seats_taken: taken }: ReleasePlan): string {
  if (seats === null) return `${taken === 1 ? '1 seat is' : `${count(taken)} seats are`} taken.`;
  return `${count(taken)} of ${count(seats)} seats ${taken === 1 ? 'is' : 'are'} taken.`;
}

/** The zones that the browser knows, and the one that is chosen. */
export function timeZones(chosen: string): string[] {
  return [...new Set([chosen, 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort();
}

export function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Writes times by the clock of a zone; by that of the reader, and says so, without one that the browser knows. */
export function clockOf(timeZone: string | null): Intl.DateTimeFormat {
  const form = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const;
  const own = { ...form, timeZoneName: 'short' } as const;
  if (timeZone === null) return new Intl.DateTimeFormat(undefined, own);
  try {
    return new Intl.DateTimeFormat(undefined, { ...form, timeZone });
  } catch (error) {
    if (error instanceof RangeError) return new Intl.DateTimeFormat(undefined, own);
    throw error;
  }
}
