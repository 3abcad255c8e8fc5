import { Temporal } from 'temporal-polyfill';
import type { FieldFault } from '../../platform/problems/problem.js';

export const RHYTHMS = ['hour', 'day'] as const;

/** When a seat is offered, and to how many people. Named as the fields of `release_plan` in the API. */
export interface ReleasePlan {
  readonly every: (typeof RHYTHMS)[number];
  /** 1 to 7 for Monday to Sunday, in order; null for a plan by the hour. */
  readonly weekdays: readonly number[] | null;
  /** `HH:MM` by the clock of the zone; null for a plan by the hour. */
  readonly at: string | null;
  /** IANA name. */
  readonly time_zone: string;
  /** People of one run. */
  readonly count: number;
  /** Runs stop offering when so many people have an open offer or have accepted one; null for no bound. */
  readonly seats: number | null;
  /** The last day with runs, by the calendar of the zone. */
  readonly until: string | null;
  readonly is_active: boolean;
}

/** A stored plan. It has no runs up to `saved_at`, ISO 8601 in UTC. */
export interface SavedPlan extends ReleasePlan {
  readonly saved_at: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7];
/** Offsets such as `+02:00` are refused: they have no daylight saving time. */
const ZONE_NAME = /^[A-Za-z]/;
/** The last time that the databases can store. */
const TIME_MAX_MS = Date.UTC(9999, 11, 31);

/** The IANA name in its usual case; null if the service does not know the zone. */
export function timeZoneOf(name: string): string | null {
  if (!ZONE_NAME.test(name)) return null;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** How many more seats runs may offer. Without a plan none, so a run under way ends when its plan is removed. */
export function freeSeats({
  releasePlan,
  seatsTaken,
}: {
  readonly releasePlan: ReleasePlan | null;
  readonly seatsTaken: number;
}): number {
  if (!releasePlan) return 0;
  return releasePlan.seats === null ? Infinity : Math.max(0, releasePlan.seats - seatsTaken);
}

/** The faults in how fields of a plan fit together. */
export function planFaults({ every, at, weekdays }: Pick<ReleasePlan, 'every' | 'at' | 'weekdays'>): FieldFault[] {
  if (every === 'day')
    return at === null ? [{ field: 'at', rule: 'required', message: 'is required in a plan by the day' }] : [];
  const message = 'must not be given in a plan by the hour';
  return [
    ...(at === null ? [] : [{ field: 'at', rule: 'one_of', message } as const]),
    ...(weekdays === null ? [] : [{ field: 'weekdays', rule: 'one_of', message } as const]),
  ];
}

/**
 * The plan to store. If the given one equals the current one, that stays as it was saved: clients may send the whole
 * waitlist back.
 */
export function savedPlan(current: SavedPlan | null, plan: ReleasePlan | null, now: Date): SavedPlan | null {
  if (plan === null) return null;
  return current && isEqual(current, plan) ? current : { ...plan, saved_at: now.toISOString() };
}

function isEqual(one: ReleasePlan, other: ReleasePlan): boolean {
  const fields = ({ every, weekdays, at, time_zone, count, seats, until, is_active }: ReleasePlan) =>
    JSON.stringify([every, weekdays, at, time_zone, count, seats, until, is_active]);
  return fields(one) === fields(other);
}

/** The next times after a moment, first to last; none while the plan is paused. */
export function nextRuns(plan: SavedPlan, after: Date, count: number): Date[] {
  if (!plan.is_active) return [];
  const runs: Date[] = [];
  for (const time of timesAfter(plan, after)) {
    if (runs.length === count) break;
    runs.push(time);
  }
  return runs;
}

/** The times after one moment and up to another, first to last; if there are more than `countMax`, the last ones. */
export function runsBetween(plan: SavedPlan, after: Date, to: Date, countMax: number): Date[] {
  if (!plan.is_active) return [];
  // After an outage of years, only its end is computed. A change of clocks can make an hour longer.
  const spanMs = plan.every === 'hour' ? (countMax + 24) * HOUR_MS : (countMax + 1) * 7 * DAY_MS;
  const start = new Date(Math.max(after.getTime(), to.getTime() - spanMs));
  const runs: Date[] = [];
  for (const time of timesAfter(plan, start)) {
    if (time > to) break;
    runs.push(time);
  }
  return runs.slice(-countMax);
}

/** All times after a moment, ascending, even if the plan is paused. None in a zone that this process does not know. */
function* timesAfter(plan: SavedPlan, after: Date): Generator<Date> {
  if (timeZoneOf(plan.time_zone) === null) return;
  const start = Temporal.Instant.fromEpochMilliseconds(Math.max(after.getTime(), Date.parse(plan.saved_at)));
  const until = plan.until === null ? null : Temporal.PlainDate.from(plan.until);
  const times = plan.every === 'hour' ? hoursAfter(start, plan.time_zone, until) : daysAfter(start, plan, until);
  for (const { epochMilliseconds } of times) {
    if (epochMilliseconds > TIME_MAX_MS) return;
    yield new Date(epochMilliseconds);
  }
}

/** Each moment at which the clock of the zone shows minute 0. An hour that comes twice passes twice. */
function* hoursAfter(start: Temporal.Instant, zone: string, until: Temporal.PlainDate | null) {
  for (let time = start.toZonedDateTimeISO(zone); ;) {
    time = nextHour(time);
    if (until && Temporal.PlainDate.compare(time.toPlainDate(), until) > 0) return;
    yield time;
  }
}

function nextHour(time: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  const next = time.round({ smallestUnit: 'minute', roundingMode: 'floor' }).add({ minutes: 60 - time.minute });
  if (next.offsetNanoseconds === time.offsetNanoseconds) return next;
  // The clock changes within this hour, in some zones by half an hour.
  const change = time.getTimeZoneTransition('next') as Temporal.ZonedDateTime;
  return change.minute === 0 ? change : nextHour(change);
}

/** The time of day on each chosen day. A time that a change of clocks skips comes later by the length of the gap. */
function* daysAfter(start: Temporal.Instant, plan: ReleasePlan, until: Temporal.PlainDate | null) {
  const { time_zone: timeZone, at: plainTime, weekdays } = plan as ReleasePlan & { at: string; weekdays: number[] };
  // The time of the day before can come today, if clocks skip midnight.
  let day = start.toZonedDateTimeISO(timeZone).toPlainDate().subtract({ days: 1 });
  let last = start;
  for (; !until || Temporal.PlainDate.compare(day, until) <= 0; day = day.add({ days: 1 })) {
    if (!weekdays.includes(day.dayOfWeek)) continue;
    const time = day.toZonedDateTime({ timeZone, plainTime }).toInstant();
    if (Temporal.Instant.compare(time, last) <= 0) continue;
    last = time;
    yield time;
  }
}
