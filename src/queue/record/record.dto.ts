import { ApiProperty } from '@nestjs/swagger';
import { COUNT_SCHEMA, openEnum, timestamp, TIMESTAMP_SCHEMA, UUID_SCHEMA } from '../../platform/contract/formats.js';
import { ANSWER_LENGTH_MAX, QUESTION_LENGTH_MAX } from '../settings/questions.js';
import type { Waiter } from './waiter.js';
import { type Status, STATUSES } from './waiter.entity.js';
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
    'Number of active records ahead; 0 is first. An offboarded record keeps its last priority; a pending one has all active records ahead.',
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

  @ApiProperty({ ...COUNT_SCHEMA, nullable: true, description: 'The priority at offboarding, or null.', example: null })
  removed_priority!: number | null;

  @ApiProperty({
    ...openEnum(STATUSES),
    description:
      '`waiting`: in the queue. `offboarded`: removed from it by the owner. `pending`: not in the queue until the email is verified.',
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
    removed_priority: waiter.status === 'offered' ? null : waiter.removedPriority,
    status: waiter.status,
    uuid: waiter.uuid,
    verified: waiter.verified,
  };
}
