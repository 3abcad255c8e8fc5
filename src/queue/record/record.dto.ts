import { ApiProperty } from '@nestjs/swagger';
import {
  COUNT_SCHEMA,
  openEnum,
  TIME_SCHEMA,
  timestamp,
  TIMESTAMP_SCHEMA,
  UUID_SCHEMA,
} from '../../platform/contract/formats.js';
import { ANSWER_LENGTH_MAX, QUESTION_LENGTH_MAX } from '../settings/questions.js';
import type { Waiter } from './waiter.js';
import { REMOVED_REASONS, type RemovedReason, type Status, STATUSES } from './waiter.entity.js';
import { referralLink, type SignupPage, signupPage, TOKEN_SCHEMA } from './referral-link.js';

/** Null is a case of its own: generated clients reject a null that both of two nullable types would match. */
export const ANSWER_VALUE_SCHEMA = {
  title: 'AnswerValue',
  oneOf: [
    { type: 'string', maxLength: ANSWER_LENGTH_MAX },
    { type: 'array', maxItems: 100, items: { type: 'string', maxLength: QUESTION_LENGTH_MAX } },
    { type: 'string', nullable: true, enum: [null] },
  ],
  description: 'Text, one or more of the options, or null if the question was not answered.',
  example: 'A friend',
};

export const PRIORITY = {
  ...COUNT_SCHEMA,
  description:
    'Number of active records ahead; 0 is first. An offered or offboarded record keeps its last priority; a pending one has all active records ahead.',
  example: 0,
} as const;

/** The fields that the public view (`SignupDto`) and the owner's (`WaiterDto`) share. */
export class RecordDto {
  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of records that this one referred and got credit for.',
    example: 0,
  })
  amount_referred!: number;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiProperty({
    description: 'The link to share. This record gets credit for each signup through it.',
    format: 'uri',
    maxLength: 2100,
    example: 'https://example.com/join?ref_id=7ZZ0K3M9QXVB',
  })
  referral_link!: string;

  @ApiProperty({ ...TOKEN_SCHEMA, description: 'Identifies this record as a referrer.' })
  referral_token!: string;

  @ApiProperty({
    ...TIMESTAMP_SCHEMA,
    type: String,
    nullable: true,
    description: 'When the record was offboarded (UTC), or null.',
    example: null,
  })
  removed_date!: string | null;

  @ApiProperty({
    ...COUNT_SCHEMA,
    nullable: true,
    description: 'The priority when the record left the queue; null unless it is offboarded.',
    example: null,
  })
  removed_priority!: number | null;

  @ApiProperty({
    ...openEnum(REMOVED_REASONS),
    nullable: true,
    description:
      'Why the record was offboarded: `by_owner`, or because its offer was `accepted`, `declined` or `expired`. Only `by_owner` and `accepted` mean that the person was let in. Null unless the record is offboarded, and for records that were offboarded before version 0.3.0, which count as `by_owner`.',
    example: null,
  })
  removed_reason!: RemovedReason | null;

  @ApiProperty({
    ...TIME_SCHEMA,
    type: String,
    nullable: true,
    description:
      'When the open offer expires, ISO 8601 in UTC. Null without an open offer, if it never expires, and before its time begins: when its mail is sent, at the latest a day after the offer was made.',
    example: null,
  })
  offer_expires_at!: string | null;

  @ApiProperty({
    ...openEnum(STATUSES),
    description:
      '`waiting`: in the queue. `offered`: out of the queue while an offer is open. `offboarded`: removed from the queue, for the reason in `removed_reason`. `pending`: not in the queue until the email is verified.',
    example: 'waiting',
  })
  status!: Status;

  @ApiProperty({ ...UUID_SCHEMA, description: 'Permanent id of the record in every view.' })
  uuid!: string;

  @ApiProperty({
    description: 'Whether the email is verified: by a click on the link in a mail, or by the owner.',
    example: false,
  })
  verified!: boolean;
}

/** Other fields are assigned to them: a spread takes five times as long. */
export function recordFields(waiter: Waiter, waitlist: SignupPage): RecordDto {
  return {
    amount_referred: waiter.creditedReferrals,
    created_at: timestamp(waiter.createdAt),
    referral_link: referralLink(signupPage(waitlist), waiter.referralToken),
    referral_token: waiter.referralToken,
    removed_date: waiter.removedAt && timestamp(waiter.removedAt),
    // An offered record keeps its place in the column, and is not removed.
    removed_priority: waiter.status === 'offboarded' ? waiter.removedPriority : null,
    removed_reason: waiter.removedReason,
    offer_expires_at: waiter.offerExpiresAt && waiter.offerExpiresAt.toISOString(),
    status: waiter.status,
    uuid: waiter.uuid,
    verified: waiter.verified,
  };
}
