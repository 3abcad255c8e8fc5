import { ApiProperty } from '@nestjs/swagger';
import { Flag, Uuid, WholeNumber } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, openEnum, TIME_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import type { PageAfter } from '../platform/page.js';
import { RUN_STATES } from '../queue/release/release-run.js';
import type { ShownRun } from './release.service.js';

export const PAGE_SIZE_MAX = 100;
const PAGE_SIZE_DEFAULT = 20;

export class ListReleasesDto {
  @Uuid({ optional: true, description: 'Lists the runs older than the one with this `id`.' })
  after_id?: string;

  @WholeNumber({
    default: PAGE_SIZE_DEFAULT,
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    lenient: true,
    description: 'Page size.',
  })
  limit = PAGE_SIZE_DEFAULT;

  static toPage({ after_id, limit }: ListReleasesDto): PageAfter<string> {
    return { afterId: after_id?.toLowerCase() ?? null, limit };
  }
}

@KnownFieldsOnly()
export class RunReleaseDto {
  @Flag({
    default: false,
    description: 'Returns what a run would offer now, with `id` and `ran_at` null. Offers and records nothing.',
  })
  dry_run?: boolean;
}

/** A run of a release plan. */
export class ReleaseDto {
  @ApiProperty({ ...UUID_SCHEMA, type: String, nullable: true, description: 'Identifies the run. Null in a dry run.' })
  id!: string | null;

  @ApiProperty({
    ...TIME_SCHEMA,
    description: 'The planned time, ISO 8601 in UTC; for a run by hand, the time of the request.',
    example: '2026-11-27T08:00:00.000Z',
  })
  planned_at!: string;

  @ApiProperty({
    ...TIME_SCHEMA,
    type: String,
    nullable: true,
    description: 'When it began. Null if it was skipped, and in a dry run.',
    example: '2026-11-27T08:00:03.120Z',
  })
  ran_at!: string | null;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'The `count` of the plan when the run began.', example: 50 })
  count!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'How many people it has offered a seat: fewer than `count` if fewer waited, or fewer seats were free.',
    example: 50,
  })
  offered!: number;

  @ApiProperty({
    ...openEnum(RUN_STATES),
    description:
      '`running` while it makes offers, then `done`. `skipped` if it could not begin within an hour of its time.',
    example: 'done',
  })
  state!: ShownRun['state'];

  static from({ id, plannedAt, ranAt, count, offered, state }: ShownRun): ReleaseDto {
    return {
      id,
      planned_at: plannedAt.toISOString(),
      ran_at: ranAt?.toISOString() ?? null,
      count,
      offered,
      state,
    };
  }
}
