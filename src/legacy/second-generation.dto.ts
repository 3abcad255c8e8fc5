import { ApiProperty } from '@nestjs/swagger';
import { WholeNumber } from '../platform/contract/fields.js';
import { COUNT_SCHEMA } from '../platform/contract/formats.js';
import type { Found } from '../queue/record/waiter.js';
import { TOKEN_SCHEMA } from '../queue/record/referral-link.js';
import { CreateSignupDto, GetSignupDto, SignupDto } from '../signup/signup.dto.js';
import { LeaderboardDto, LENGTH } from '../waitlist/leaderboard.dto.js';

export const ACTIVE = {
  ...COUNT_SCHEMA,
  nullable: true,
  description: 'Number of active records of the waitlist; null if it hides its counts.',
  example: 1,
} as const;

export class CreateWaiterDto extends CreateSignupDto {}

export class GetWaiterDto extends GetSignupDto {}

/** A Signup with the names of the second generation. */
export class PublicWaiterDto extends SignupDto {
  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'The same as `referred_by_signup_token`.' })
  referred_by_waiter_token!: string | null;

  @ApiProperty({ description: 'Always false: the service keeps no spam.', example: false })
  is_spam!: boolean;

  static override from(found: Found): PublicWaiterDto {
    const signup = SignupDto.from(found);
    return Object.assign(signup, { referred_by_waiter_token: signup.referred_by_signup_token, is_spam: false });
  }
}

export class FoundWaiterDto extends PublicWaiterDto {
  @ApiProperty(ACTIVE)
  total_waiters_currently!: number | null;

  static override from(found: Found): FoundWaiterDto {
    const { hidesCounts, active } = found.waitlist;
    return Object.assign(PublicWaiterDto.from(found), { total_waiters_currently: hidesCounts ? null : active });
  }
}

export class GetWaiterLeaderboardDto {
  @WholeNumber(LENGTH)
  total_waiters?: number;
}

export class WaiterLeaderboardDto extends LeaderboardDto {}
