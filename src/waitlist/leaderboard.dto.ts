import { domainToUnicode } from 'node:url';
import { ApiProperty } from '@nestjs/swagger';
import { NAME_LENGTH_MAX, WholeNumber } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, EMAIL_SCHEMA } from '../platform/contract/formats.js';
import type { Waiter } from '../queue/record/waiter.js';

export const LENGTH = {
  minimum: 1,
  maximum: 100,
  optional: true,
  lenient: true,
  description: 'How many people to list. Without it, the `leaderboard_length` of the waitlist.',
} as const;
/** How many digits of a phone number the public sees. */
const PHONE_DIGITS = 3;

export class GetLeaderboardDto {
  @WholeNumber(LENGTH)
  total_signups?: number;
}

/** A person on the leaderboard, as the public may see them. */
export class LeaderDto {
  @ApiProperty({ ...COUNT_SCHEMA, minimum: 1, description: 'Number of records that this one referred.', example: 12 })
  amount_referred!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of active records ahead; 0 is first.', example: 0 })
  priority!: number;

  @ApiProperty({ maxLength: NAME_LENGTH_MAX, description: 'As given, or empty.', example: 'Ada' })
  first_name!: string;

  @ApiProperty({ maxLength: 1, description: 'The first letter, or empty.', example: 'L' })
  last_name!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: EMAIL_SCHEMA.maxLength,
    description: 'The first letters of the address and its domain, and the last label. Null if the record has none.',
    example: 'a***@e***.com',
  })
  email!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 6,
    description: 'The last three digits. Null if the record has none.',
    example: '***123',
  })
  phone!: string | null;

  static from({ creditedReferrals, priority, firstName, lastName, emailKey, phoneKey }: Waiter): LeaderDto {
    return {
      amount_referred: creditedReferrals,
      priority,
      first_name: firstName ?? '',
      last_name: firstCharacter(lastName?.trim() ?? ''),
      email: emailKey && maskedEmail(emailKey),
      phone: phoneKey && `***${phoneKey.slice(-PHONE_DIGITS)}`,
    };
  }
}

export class LeaderboardDto {
  @ApiProperty({
    type: [LeaderDto],
    maxItems: LENGTH.maximum,
    description: 'Most referrals first; of equal ones, the person who joined first.',
  })
  leaderboard!: LeaderDto[];

  static from(leaders: readonly Waiter[]): LeaderboardDto {
    return { leaderboard: leaders.map((leader) => LeaderDto.from(leader)) };
  }
}

/** From the normal form, because a typed domain may have other dots than ASCII's. */
function maskedEmail(emailKey: string): string {
  const at = emailKey.lastIndexOf('@');
  const domain = domainToUnicode(emailKey.slice(at + 1));
  return `${firstCharacter(emailKey)}***@${firstCharacter(domain)}***${domain.slice(domain.lastIndexOf('.'))}`;
}

function firstCharacter(text: string): string {
  return [...text][0] ?? '';
}
