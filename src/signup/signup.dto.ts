import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { TEXT_PATTERN } from '../platform/contract/patterns.js';
import { COUNT_SCHEMA, ID_SCHEMA, TOKEN_SCHEMA, UUID_SCHEMA } from '../platform/contract/schemas.js';
import { timestamp, TIMESTAMP_SCHEMA } from '../platform/contract/timestamp.js';
import type { Found, JsonObject } from '../queue/waiter.js';
import { referralLink } from '../queue/referral-link.js';
import type { SignupRequest } from './signup.service.js';

const EMAIL = {
  type: String,
  format: 'idn-email',
  maxLength: 254,
  pattern: TEXT_PATTERN,
  example: 'ada@example.com',
} as const;
const PHONE = { type: String, format: 'phone', maxLength: 32, pattern: TEXT_PATTERN, example: '+14155550123' } as const;
const NAME = { type: String, maxLength: 100, pattern: TEXT_PATTERN, nullable: true } as const;

/** Null stands apart, because generated clients take a null that is one of a type's own values for two matches. */
const ANSWER_VALUE = {
  title: 'AnswerValue',
  oneOf: [
    { type: 'string', maxLength: 4000 },
    { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 500 } },
    { type: 'string', nullable: true, enum: [null] },
  ],
  example: 'A friend',
};

export class AnswerDto {
  @ApiProperty({
    description: 'The question, as the waitlist has it.',
    maxLength: 500,
    example: 'How did you hear of us?',
  })
  question_value!: string;

  @ApiPropertyOptional({
    description: "Whether the question is optional: the waitlist's own setting; what a signup sends here is ignored.",
  })
  optional?: boolean;

  @ApiProperty({
    description: 'The answer: a text, one or more of the options, or null where it was not answered.',
    ...ANSWER_VALUE,
  })
  answer_value!: string | string[] | null;
}

/** What was answered to one question of the waitlist. */
export class GivenAnswerDto {
  @ApiProperty({ description: 'The question.', maxLength: 500, example: 'How did you hear of us?' })
  question_value!: string;

  @ApiProperty({ description: 'Whether it may be left unanswered.', example: true })
  optional!: boolean;

  @ApiProperty({ ...ANSWER_VALUE, description: 'The answer; null where there is none.' })
  answer_value!: string | string[] | null;
}

export class CreateSignupDto {
  @ApiProperty({
    ...ID_SCHEMA,
    description: 'The waitlist to join. A numeric string is accepted too.',
    'x-numeric-string': true,
    example: 1,
  } as object)
  waitlist_id!: number;

  @ApiPropertyOptional({ ...EMAIL, nullable: true, description: 'Required unless the waitlist says otherwise.' })
  email?: string | null;

  @ApiPropertyOptional({
    ...PHONE,
    nullable: true,
    description: "With its country code, or as dialled in the waitlist's default region.",
  })
  phone?: string | null;

  @ApiPropertyOptional({ ...NAME, description: 'Only the owner sees it.', example: 'Ada' })
  first_name?: string | null;

  @ApiPropertyOptional({ ...NAME, description: 'Only the owner sees it.', example: 'Lovelace' })
  last_name?: string | null;

  @ApiPropertyOptional({
    type: String,
    maxLength: 2048,
    nullable: true,
    description:
      'Address of the page where the person signs up. A referral token in it credits the referrer; any other text is no error.',
    example: 'https://example.com/join?ref_id=7ZZ0K3M9QXVB',
  })
  referral_link?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Any JSON object of at most 16 KiB and 8 levels; only the owner sees it.',
    example: { plan: 'team' },
  })
  metadata?: JsonObject | null;

  @ApiPropertyOptional({
    type: [AnswerDto],
    maxItems: 3,
    nullable: true,
    description: 'Answers to the questions of the waitlist; ignored on a waitlist without any.',
    'x-checked-by-service': true,
    example: [],
  } as object)
  answers?: AnswerDto[] | null;

  static toRequest(body: CreateSignupDto): SignupRequest {
    return {
      waitlistId: body.waitlist_id,
      email: body.email ?? null,
      phone: body.phone ?? null,
      firstName: body.first_name ?? null,
      lastName: body.last_name ?? null,
      referralLink: body.referral_link ?? null,
      metadata: body.metadata ?? null,
      answers: body.answers,
    };
  }
}

export class GetSignupDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'The waitlist to look in.', example: 1 })
  waitlist_id!: number;

  @ApiPropertyOptional({
    ...EMAIL,
    description: 'Email or phone must be given. A plus that was not percent-encoded is understood.',
    'x-plus': 'within',
  } as object)
  email?: string;

  @ApiPropertyOptional({
    ...PHONE,
    'x-plus': 'first',
    description:
      'As it was given, or in another notation of the same number. Where the waitlist has no default region: with its country code.',
  } as object)
  phone?: string;
}

/** A record as the public may see it. */
export class SignupDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Records that this one referred.', example: 0 })
  amount_referred!: number;

  @ApiProperty({
    type: [GivenAnswerDto],
    maxItems: 3,
    description: 'One item for each question of the waitlist.',
    example: [],
  })
  answers!: GivenAnswerDto[];

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiPropertyOptional({ ...EMAIL, description: "Only where this call submitted the record's own email." })
  email?: string;

  @ApiPropertyOptional({ ...PHONE, description: "Only where this call submitted the record's own phone." })
  phone?: string;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Active records ahead; 0 is first in line. Of an offboarded record: what it was then.',
    example: 0,
  })
  priority!: number;

  @ApiProperty({
    description: 'The link to share: who signs up with it was referred by this record.',
    format: 'uri',
    maxLength: 2100,
    example: 'https://example.com/join?ref_id=7ZZ0K3M9QXVB',
  })
  referral_link!: string;

  @ApiProperty({ ...TOKEN_SCHEMA, description: 'What names this record as a referrer.' })
  referral_token!: string;

  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'Token of the record that referred this one.' })
  referred_by_signup_token!: string | null;

  @ApiProperty({
    ...TIMESTAMP_SCHEMA,
    type: String,
    nullable: true,
    description: 'When it was offboarded (UTC), or null.',
    example: null,
  })
  removed_date!: string | null;

  @ApiProperty({
    ...COUNT_SCHEMA,
    nullable: true,
    description: 'The priority when it was offboarded, or null.',
    example: null,
  })
  removed_priority!: number | null;

  @ApiProperty({ ...UUID_SCHEMA, description: 'Names the record, for good.' })
  uuid!: string;

  @ApiProperty({ description: 'Whether the contact data was verified; false in this version.', example: false })
  verified!: boolean;

  @ApiProperty({ ...ID_SCHEMA, description: 'The waitlist.', example: 1 })
  waitlist_id!: number;

  static from({ waiter, waitlist, keys }: Found): SignupDto {
    return {
      amount_referred: waiter.amountReferred,
      answers: waitlist.questions.map(({ text, optional }) => {
        const value = waiter.answers?.find(({ question }) => question === text)?.value ?? null;
        return { question_value: text, optional, answer_value: value as string | string[] | null };
      }),
      created_at: timestamp(waiter.createdAt),
      priority: waiter.priority,
      referral_link: referralLink(waitlist.urlLocation, waiter.referralToken),
      referral_token: waiter.referralToken,
      referred_by_signup_token: waiter.referredByToken,
      removed_date: waiter.removedAt && timestamp(waiter.removedAt),
      removed_priority: waiter.removedPriority,
      uuid: waiter.uuid,
      verified: waiter.verified,
      waitlist_id: waiter.waitlistId,
      ...(keys.emailKey !== null && keys.emailKey === waiter.emailKey && { email: waiter.email ?? undefined }),
      ...(keys.phoneKey !== null && keys.phoneKey === waiter.phoneKey && { phone: waiter.phone ?? undefined }),
    };
  }
}
