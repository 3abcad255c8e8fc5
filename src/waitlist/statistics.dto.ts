import { ApiProperty } from '@nestjs/swagger';
import { broken, Day, Holds, WholeNumber } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, DAY_SCHEMA, EMAIL_SCHEMA, isDay, UUID_SCHEMA } from '../platform/contract/formats.js';
import { dayAfter, dayOf } from '../queue/order/day-counts.js';
import type { Span } from '../queue/read/queue.statistics.js';
import type { StoredWaiter } from '../queue/record/waiter.js';
import type { DayStatistics, Statistics } from './statistics.service.js';
import { SPOTS } from './waitlist.dto.js';

const DAYS_MAX = 366;
const DAYS_DEFAULT = 30;

function today(): string {
  return dayOf(new Date());
}

/** If `to` is no day, it has a fault of its own. */
function spanFault(from: string, { to = today() }: { readonly to?: unknown }) {
  if (typeof to !== 'string' || !isDay(to)) return null;
  if (from > to) return broken('maximum', 'must not be after to');
  const earliest = dayAfter(to, 1 - DAYS_MAX);
  return from < earliest ? broken('minimum', `must not be before ${earliest}: at most ${DAYS_MAX} days`) : null;
}

export class GetStatisticsDto {
  @Holds('span', spanFault)
  @Day({
    optional: true,
    description: `The first day, in UTC. At most ${DAYS_MAX} days, \`to\` included. By default, the span has ${DAYS_DEFAULT} days.`,
  })
  from?: string;

  @Day({ optional: true, description: 'The last day, in UTC. By default, today.' })
  to?: string;

  static toSpan({ to = today(), from = dayAfter(to, 1 - DAYS_DEFAULT) }: GetStatisticsDto): Span {
    return { from, to };
  }
}

/** What happened on one day. */
export class DayStatisticsDto {
  @ApiProperty({ ...DAY_SCHEMA, description: 'The day in UTC.', example: '2026-11-22' })
  date!: string;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of records that joined, by `created_at`. Erased records no longer count.',
    example: 12,
  })
  signups!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'How many of the signups another record referred.', example: 4 })
  referred!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description:
      'Number of records that were offboarded, by `removed_date`, whatever `removed_reason` is. Erased records and those that came back no longer count.',
    example: 1,
  })
  offboarded!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of records that were erased.', example: 0 })
  erased!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of offers that were made.', example: 2 })
  offered!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of offers that were accepted.', example: 1 })
  accepted!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of offers that were declined.', example: 0 })
  declined!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of offers that expired, whatever `offers.on_expiry` did with the person.',
    example: 0,
  })
  expired!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of page views, within some seconds.', example: 80 })
  page_views!: number;

  static from(counts: DayStatistics): DayStatisticsDto {
    const { day, signups, referred, offboarded, erased, offered, accepted, declined, expired, pageViews } = counts;
    const offers = { offered, accepted, declined, expired };
    return { date: day, signups, referred, offboarded, erased, ...offers, page_views: pageViews };
  }
}

export class TopReferrerDto {
  @ApiProperty(UUID_SCHEMA)
  uuid!: string;

  @ApiProperty({ type: String, nullable: true, maxLength: EMAIL_SCHEMA.maxLength, example: 'ada@example.com' })
  email!: string | null;

  @ApiProperty({ type: String, nullable: true, maxLength: 32, example: '+14155550123' })
  phone!: string | null;

  @ApiProperty({ ...COUNT_SCHEMA, minimum: 1, description: 'Number of records that this one referred.', example: 12 })
  amount_referred!: number;

  static from({ uuid, email, phone, creditedReferrals }: StoredWaiter): TopReferrerDto {
    return { uuid, email, phone, amount_referred: creditedReferrals };
  }
}

export class WaitlistStatisticsDto {
  @ApiProperty({
    type: [DayStatisticsDto],
    maxItems: DAYS_MAX,
    description: 'An item for each day of the span, in order, days without a change included.',
  })
  days!: DayStatisticsDto[];

  @ApiProperty({
    type: [TopReferrerDto],
    maxItems: 5,
    description:
      'The records with the most referrals of all time, active or offboarded, at least one each. Most referrals first; of equal ones, the person who joined first.',
  })
  top_referrers!: TopReferrerDto[];

  static from({ days, topReferrers }: Statistics): WaitlistStatisticsDto {
    return {
      days: days.map((day) => DayStatisticsDto.from(day)),
      top_referrers: topReferrers.map((referrer) => TopReferrerDto.from(referrer)),
    };
  }
}

export class PreviewReorderDto {
  @WholeNumber({ ...SPOTS, lenient: true, description: 'The value to which the setting would change.', example: 5 })
  spots_to_move_upon_referral!: number;
}

export class ReorderPreviewDto {
  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of active records that the change would reorder. 0 for the current value.',
    example: 1240,
  })
  records_moved!: number;
}
