import { ApiProperty } from '@nestjs/swagger';
import { Uuid } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, DAY_SCHEMA, openEnum, TIME_SCHEMA } from '../platform/contract/formats.js';
import { PRIORITY } from '../queue/record/record.dto.js';
import { type Status, STATUSES } from '../queue/record/waiter.entity.js';
import { OTHER_NAMES, WaitlistNameField } from '../waitlist/waitlist-name.js';
import type { Place } from './place.js';

export class GetPlaceDto {
  @WaitlistNameField({ description: `The waitlist to search. ${OTHER_NAMES}`, orIn: 'api_key', example: 1 })
  waitlist_id?: number | string;

  @WaitlistNameField({ isHidden: true, optional: true, unlessIn: 'waitlist_id' })
  api_key?: number | string;

  @Uuid({ description: 'The `uuid` of a signup.' })
  uuid!: string;
}

export class ReferralSpotsDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of referrals that earned credit.', example: 2 })
  count!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'The spots that they are worth now, by `spots_to_move_upon_referral`.',
    example: 6,
  })
  spots!: number;
}

export class EstimateDto {
  @ApiProperty({ ...DAY_SCHEMA, description: 'The earliest day, in UTC.', example: '2026-12-01' })
  from!: string;

  @ApiProperty({ ...DAY_SCHEMA, description: 'The latest day, in UTC.', example: '2026-12-20' })
  to!: string;
}

/** A place in the queue and what explains it. */
export class PlaceDto {
  @ApiProperty({
    ...openEnum(STATUSES),
    description: 'As in a signup. `others`, `next_referral_priority` and `estimate` are null unless it is `waiting`.',
    example: 'waiting',
  })
  status!: Status;

  @ApiProperty({ ...PRIORITY, example: 41 })
  priority!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    nullable: true,
    description:
      'Number of active records ahead when the record entered the queue. Null if unknown, as for records from before version 0.3.0.',
    example: 50,
  })
  joined_priority!: number | null;

  @ApiProperty({ type: ReferralSpotsDto })
  referrals!: ReferralSpotsDto;

  @ApiProperty({
    type: 'integer',
    format: 'int64',
    minimum: -Number.MAX_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    nullable: true,
    description:
      'Spots gained by what others and the owner did: `joined_priority` − `priority` − `referrals.spots`. Below 0 where others moved ahead.',
    example: 3,
  })
  others!: number | null;

  @ApiProperty({
    ...COUNT_SCHEMA,
    nullable: true,
    description: 'The priority that one more credited referral would give now.',
    example: 38,
  })
  next_referral_priority!: number | null;

  @ApiProperty({
    type: EstimateDto,
    nullable: true,
    description:
      'When the record may leave the queue, at the pace of the fastest and of the slowest of the last four full ISO weeks (UTC) in which people left it by an offer or by the owner. Null with fewer than two such weeks, or if `to` is more than a year away.',
  })
  estimate!: EstimateDto | null;

  @ApiProperty({
    ...TIME_SCHEMA,
    type: String,
    nullable: true,
    description: 'When the open offer expires, as in a signup.',
    example: null,
  })
  offer_expires_at!: string | null;

  static from(place: Place): PlaceDto {
    return {
      status: place.status,
      priority: place.priority,
      joined_priority: place.joinedPriority,
      referrals: place.referrals,
      others: place.others,
      next_referral_priority: place.nextReferralPriority,
      estimate: place.estimate,
      offer_expires_at: place.offerExpiresAt?.toISOString() ?? null,
    };
  }
}
