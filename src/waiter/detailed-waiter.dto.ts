import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { UUID_SCHEMA } from '../platform/contract/formats.js';
import { TOKEN_SCHEMA } from '../queue/referral-link.js';
import type { StoredWaiter, Waiter } from '../queue/waiter.js';
import { answersOf, EMAIL, OwnerAnswerDto, WaiterDto, type WaiterView } from './waiter.dto.js';

/** The Waiter that referred another one. */
export class ReferrerDto {
  @ApiProperty(UUID_SCHEMA)
  uuid!: string;

  @ApiProperty({ ...EMAIL, description: 'Null if the referrer has none.' })
  email!: string | null;

  @ApiProperty(TOKEN_SCHEMA)
  referral_token!: string;

  static from({ uuid, email, referralToken }: StoredWaiter): ReferrerDto {
    return { uuid, email, referral_token: referralToken };
  }
}

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
    maxItems: 30,
    description: 'Each question with the answer to it, then the removed questions that the Waiter answered.',
  })
  declare answers: OwnerAnswerDto[];

  @ApiPropertyOptional({
    type: ReferrerDto,
    nullable: true,
    description:
      'If `include_referrer` is true: the Waiter that referred this one; null without one, and after its erasure.',
  })
  referrer?: ReferrerDto | null;

  static override from(waiter: Waiter, view: DetailedWaiterView): DetailedWaiterDto {
    const { referredByToken } = waiter;
    const referrer = view.referrers?.get(referredByToken ?? '');
    return Object.assign(WaiterDto.from(waiter, view), {
      referred_by_signup_token: referredByToken,
      answers: answersOf(waiter, view.waitlist),
      ...(view.referrers && { referrer: referrer ? ReferrerDto.from(referrer) : null }),
    } satisfies Omit<DetailedWaiterDto, keyof WaiterDto> & Pick<DetailedWaiterDto, 'answers'>);
  }
}
