import { ApiProperty } from '@nestjs/swagger';
import { broken, Day, Flag, Holds, Nested, NumberList, OneOf, Text, WholeNumber } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, DAY_SCHEMA, openEnum, TIME_SCHEMA } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import {
  nextRuns,
  planFaults,
  type ReleasePlan,
  RHYTHMS,
  type SavedPlan,
  timeZoneOf,
  WEEKDAYS,
} from '../queue/settings/release-plan.js';
import type { GivenSettings, Waitlist } from './waitlist.service.js';

const NEXT_RUNS = 5;
const EVERY = {
  description:
    'How often the plan runs: every `hour`, at minute 0 of the clock of `time_zone`, or every `day`, at `at`. When clocks are set back, the repeated hour has a run each time, and a repeated `at` has one.',
} as const;
const WEEKDAY = { minimum: 1, maximum: 7 } as const;
const WEEKDAY_LIST = {
  minItems: 1,
  maxItems: WEEKDAYS.length,
  nullable: true,
  description:
    'The days of the week with a run, 1 to 7 for Monday to Sunday. Only with `every: day`; null or omitted for all.',
  example: [1, 2, 3, 4, 5],
};
const AT = {
  maxLength: 5,
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
  nullable: true,
  description:
    'The time of day, `HH:MM`. Required with `every: day`, and not allowed with `hour`. When clocks are set forward past it, the run is later by the time that is skipped.',
  example: '09:00',
} as const;
const TIME_ZONE = { maxLength: 64, description: 'The IANA name of the time zone.', example: 'Europe/Berlin' } as const;
const COUNT = {
  minimum: 1,
  maximum: 10_000,
  description: 'The number of people, from the front of the queue, to whom a run offers a seat.',
} as const;
const SEATS = {
  minimum: 1,
  maximum: 10_000_000,
  nullable: true,
  description:
    'Runs stop offering seats when `seats_taken` reaches this number. Offers by hand may go beyond it. Null for no limit.',
} as const;
const UNTIL = {
  nullable: true,
  description: 'The last day with runs, by the calendar of `time_zone`. Null for no end.',
} as const;
const IS_ACTIVE = { description: 'False pauses the plan. Runs during the pause are not made up.' } as const;
const PLAN = {
  nullable: true,
  description:
    'Offers seats to the first in the queue at regular times. A change replaces the whole plan; null removes it. There are only runs after the last change of the plan. A run that is less than an hour late is made up.',
} as const;

function zoneFault(name: string) {
  return timeZoneOf(name) === null ? broken('known', 'must be an IANA time zone, such as Europe/Berlin') : null;
}

function faultsBetween({ every, at = null, weekdays = null }: ReleasePlanDto) {
  return planFaults({ every, at, weekdays });
}

@KnownFieldsOnly('next_runs', 'seats_taken')
export class ReleasePlanDto {
  @OneOf({ ...EVERY, enum: RHYTHMS, enumName: 'ReleaseRhythm' })
  every!: ReleasePlan['every'];

  @NumberList({ ...WEEKDAY_LIST, default: null, items: WEEKDAY })
  weekdays?: number[] | null;

  @Text({ ...AT, default: null })
  at?: string | null;

  @Holds('zone', zoneFault)
  @Text({ ...TIME_ZONE, minLength: 1, format: 'time-zone' })
  time_zone!: string;

  @WholeNumber({ ...COUNT, example: 50 })
  count!: number;

  @WholeNumber({ ...SEATS, default: null })
  seats?: number | null;

  @Day({ ...UNTIL, default: null })
  until?: string | null;

  @Flag({ ...IS_ACTIVE, default: true })
  is_active?: boolean;

  static toPlan({ every, weekdays, at, time_zone, count, seats, until, is_active }: ReleasePlanDto): ReleasePlan {
    return {
      every,
      weekdays: every === 'day' ? [...(weekdays ?? WEEKDAYS)].sort() : null,
      at: at ?? null,
      time_zone: timeZoneOf(time_zone) ?? time_zone,
      count,
      seats: seats ?? null,
      until: until ?? null,
      is_active: is_active ?? true,
    };
  }
}

/** The plan of a waitlist. */
export class ConfiguredReleasePlanDto {
  @ApiProperty({ ...EVERY, ...openEnum(RHYTHMS), example: 'day' })
  every!: ReleasePlan['every'];

  @ApiProperty({ ...WEEKDAY_LIST, type: 'array', items: { ...WEEKDAY, type: 'integer', format: 'int32' } })
  weekdays!: readonly number[] | null;

  @ApiProperty({ ...AT, type: String })
  at!: string | null;

  @ApiProperty(TIME_ZONE)
  time_zone!: string;

  @ApiProperty({ ...COUNT, type: 'integer', format: 'int32', example: 50 })
  count!: number;

  @ApiProperty({ ...SEATS, type: 'integer', format: 'int32', example: 500 })
  seats!: number | null;

  @ApiProperty({ ...UNTIL, ...DAY_SCHEMA, type: String, example: '2027-03-31' })
  until!: string | null;

  @ApiProperty({ ...IS_ACTIVE, example: true })
  is_active!: boolean;

  @ApiProperty({
    type: 'array',
    maxItems: NEXT_RUNS,
    items: { ...TIME_SCHEMA, type: 'string' },
    description: 'The next runs, ISO 8601 in UTC. Empty while the plan is paused.',
    example: ['2026-11-23T08:00:00.000Z'],
  })
  next_runs!: string[];

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of people who have an open offer or accepted one. Erased and returned people do not count.',
    example: 120,
  })
  seats_taken!: number;

  static from(plan: SavedPlan, seatsTaken: number): ConfiguredReleasePlanDto {
    return {
      every: plan.every,
      weekdays: plan.weekdays,
      at: plan.at,
      time_zone: plan.time_zone,
      count: plan.count,
      seats: plan.seats,
      until: plan.until,
      is_active: plan.is_active,
      next_runs: nextRuns(plan, new Date(), NEXT_RUNS).map((time) => time.toISOString()),
      seats_taken: seatsTaken,
    };
  }
}

/** The release plan in a request. */
export class ReleaseSettingsDto {
  @Holds('plan', faultsBetween)
  @Nested(ReleasePlanDto, { ...PLAN, optional: true })
  release_plan?: ReleasePlanDto | null;

  static toRelease({ release_plan: plan }: ReleaseSettingsDto) {
    return { releasePlan: plan && ReleasePlanDto.toPlan(plan) } satisfies GivenSettings;
  }
}

/** The release plan in a waitlist. */
export class ReleaseSettingsViewDto {
  @ApiProperty({ ...PLAN, type: ConfiguredReleasePlanDto })
  release_plan!: ConfiguredReleasePlanDto | null;

  static of({ releasePlan, seatsTaken }: Waitlist): ReleaseSettingsViewDto {
    return { release_plan: releasePlan && ConfiguredReleasePlanDto.from(releasePlan, seatsTaken) };
  }
}
