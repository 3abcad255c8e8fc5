import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { UUID_SCHEMA } from '../platform/contract/formats.js';
import { TOKEN_SCHEMA } from '../queue/referral-link.js';
import type { StoredWaiter, Waiter } from '../queue/waiter.js';
import { answersOf, EMAIL, OwnerAnswerDto, WaiterDto, type WaiterView } from './waiter.dto.js';

/** The Waiter that referred another one. */
export interface Referrer {
  uuid: string;
  email: string | null;
  referral_token: string;
}

/** Inline, because a reference cannot be nullable in OpenAPI 3.0. */
const REFERRER_SCHEMA = {
  type: 'object',
  nullable: true,
  properties: {
    uuid: { ...UUID_SCHEMA, type: 'string' },
    email: { ...EMAIL, type: 'string' },
    referral_token: { ...TOKEN_SCHEMA, type: 'string' },
  },
  required: ['uuid', 'email', 'referral_token'],
} satisfies ApiPropertyOptions;

interface DetailedWaiterView extends WaiterView {
  /** The records that referred others, by their tokens; undefined where the answer does not show them. */
  readonly referrers?: ReadonlyMap<string, StoredWaiter>;
}

/** A Waiter with the answers to all questions, as the operations under `/signup` show it. */
export class DetailedWaiterDto extends WaiterDto {
  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'The same as `referred_by_waiter_token`.' })
  referred_by_signup_token!: string | null;

  @ApiProperty({
    type: [OwnerAnswerDto],
    required: true,
    maxItems: 30,
    description: 'Each question with the answer to it, then the removed questions that the Waiter answered.',
  })
  declare answers: OwnerAnswerDto[];

  @ApiProperty({
    ...REFERRER_SCHEMA,
    selfRequired: false,
    description:
      'If `include_referrer` is true: the Waiter that referred this one; null without one, and after its erasure.',
  })
  referrer?: Referrer | null;

  static override from(waiter: Waiter, view: DetailedWaiterView): DetailedWaiterDto {
    const { referredByToken } = waiter;
    const referrer = view.referrers?.get(referredByToken ?? '');
    return Object.assign(WaiterDto.from(waiter, view), {
      referred_by_signup_token: referredByToken,
      answers: answersOf(waiter, view.waitlist),
      ...(view.referrers && { referrer: referrer ? referrerFrom(referrer) : null }),
    } satisfies Omit<DetailedWaiterDto, keyof WaiterDto> & Pick<DetailedWaiterDto, 'answers'>);
  }
}

function referrerFrom({ uuid, email, referralToken }: StoredWaiter): Referrer {
  return { uuid, email, referral_token: referralToken };
}
