import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Flag, NestedList, NotWith, Text, WholeNumber } from '../platform/contract/fields.js';
import { openEnum, TIME_SCHEMA } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import { Problem } from '../platform/problems/problem.js';
import { OFFER_STATES, type OfferState } from '../queue/offers/offer.js';
import type { Waiter } from '../queue/record/waiter.js';
import { HOURS } from '../waitlist/offers.dto.js';
import { RECORDS_PER_CALL_MAX } from './bounds.js';
import { SignupUuidDto, uuidsOf } from './named-signups.dto.js';
import type { FoundOffer, GivenOffers } from './offer.service.js';
import { WaiterDto, type WaiterView } from './waiter.dto.js';

const CODE_LENGTH_MAX = 100;
const OFFER_URL = {
  format: 'uri',
  maxLength: 2100,
  example: 'https://waitlist.example.com/waitlist/1/offer/Vb1xYw3nqS8kJm2LrT5uPg',
} as const;

@KnownFieldsOnly()
export class MakeOffersDto {
  @WholeNumber({
    optional: true,
    minimum: 1,
    maximum: RECORDS_PER_CALL_MAX,
    description: 'Number of Waiters from the front of the queue who get an offer. Required without `signups`.',
    example: 10,
  })
  count?: number;

  @NotWith('count', null)
  @NestedList(SignupUuidDto, {
    optional: true,
    // Generated Java clients send an empty list unless null is allowed.
    nullable: true,
    minItems: 1,
    maxItems: RECORDS_PER_CALL_MAX,
    description: 'The Waiters who get an offer, by `uuid`, in place of `count`. Those who are not waiting are ignored.',
    example: undefined,
  })
  signups?: SignupUuidDto[] | null;

  @WholeNumber({
    ...HOURS,
    optional: true,
    description: "How many hours the offers hold. Null: they never expire. Omitted: the waitlist's `offers.hours`.",
    example: 48,
  })
  hours?: number | null;

  @Flag({
    default: false,
    description: 'Returns the Waiters who would get an offer. Changes, sends and records nothing.',
  })
  dry_run = false;

  /** @throws Problem `INVALID_REQUEST` without `count` and `signups` */
  static toRequest({ count, signups, hours }: MakeOffersDto): GivenOffers {
    if (signups) return { selection: { uuids: uuidsOf({ signups }) }, hours };
    if (count === undefined)
      throw Problem.invalid([{ field: 'count', message: 'is required unless signups are given', rule: 'required' }]);
    return { selection: { next: count }, hours };
  }
}

/** A Waiter with a new offer. */
export class OfferedWaiterDto extends WaiterDto {
  @ApiPropertyOptional({
    ...OFFER_URL,
    description:
      'The page of the offer, with its code. Shown only once; absent in a dry run, and in a repeat with the same `Idempotency-Key` once the offer has ended.',
  })
  offer_url?: string;

  static withLink(waiter: Waiter, view: WaiterView, link: string | undefined): OfferedWaiterDto {
    const dto: OfferedWaiterDto = WaiterDto.from(waiter, view);
    return link === undefined ? dto : Object.assign(dto, { offer_url: link });
  }
}

@KnownFieldsOnly()
export class ReturnWaitersDto {
  @NestedList(SignupUuidDto, {
    minItems: 1,
    maxItems: RECORDS_PER_CALL_MAX,
    description: 'The offered or offboarded Waiters, by `uuid`. All others are ignored.',
  })
  signups!: SignupUuidDto[];
}

/** The code of an offer, as in the address of its page and in the one after Accept. */
@KnownFieldsOnly()
export class OfferCodeDto {
  @Text({
    minLength: 1,
    maxLength: CODE_LENGTH_MAX,
    description: 'The code of the offer: the parameter `offer` of the address at which the person arrived.',
    example: 'Vb1xYw3nqS8kJm2LrT5uPg',
  })
  code!: string;
}

export class OfferDto {
  @ApiProperty({
    ...openEnum(OFFER_STATES),
    description:
      'The state of the offer. `withdrawn`: the owner brought the person back to the queue. A state other than `open` never changes, except from `accepted` to `withdrawn`.',
    example: 'accepted',
  })
  state!: OfferState;

  @ApiProperty({
    ...TIME_SCHEMA,
    type: String,
    nullable: true,
    description: 'When the offer was accepted, ISO 8601 in UTC; kept after a return. Null if it was never accepted.',
    example: '2026-11-21T09:30:00.000Z',
  })
  accepted_at!: string | null;

  @ApiProperty({ type: WaiterDto, description: 'The Waiter, as it is now.' })
  signup!: WaiterDto;

  static from({ state, acceptedAt, waiter, waitlist }: FoundOffer, accountUuid: string): OfferDto {
    const view = { waitlist, accountUuid, totalCurrently: waitlist.active };
    return { state, accepted_at: acceptedAt && acceptedAt.toISOString(), signup: WaiterDto.from(waiter, view) };
  }
}

export class OfferLinkDto {
  @ApiProperty({ ...OFFER_URL, description: 'The page of the offer, with its new code. Shown only once.' })
  offer_url!: string;
}
