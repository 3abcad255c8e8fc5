import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { AnyText, CheckedByService, Email, Id, Metadata, PersonName, Phone } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, EMAIL_SCHEMA, ID_SCHEMA, PHONE_SCHEMA, TOKEN_SCHEMA } from '../platform/contract/formats.js';
import { type Besides, RecordDto, recordFields } from '../queue/record.dto.js';
import type { Found, JsonObject } from '../queue/waiter.js';
import type { SignupRequest } from './signup.service.js';

/** Null is a case of its own: generated clients reject a null that both of two nullable types would match. */
const ANSWER_VALUE = {
  title: 'AnswerValue',
  oneOf: [
    { type: 'string', maxLength: 4000 },
    { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 500 } },
    { type: 'string', nullable: true, enum: [null] },
  ],
  example: 'A friend',
};

/** One answer in a signup. The service checks it, so this only documents it. */
export class AnswerDto {
  @ApiProperty({
    description: 'The text of the question, as the waitlist has it.',
    maxLength: 500,
    example: 'How did you hear of us?',
  })
  question_value!: string;

  @ApiPropertyOptional({
    description: "Whether the question is optional. This is the waitlist's own setting; a value sent here is ignored.",
  })
  optional?: boolean;

  @ApiProperty({
    ...ANSWER_VALUE,
    description: 'The answer: text, one or more of the options, or null if the question was not answered.',
  })
  answer_value!: string | string[] | null;
}

/** A question of the waitlist with the answer to it. */
export class GivenAnswerDto extends AnswerDto {
  @ApiProperty({ required: true, description: 'Whether the question may be left unanswered.', example: true })
  declare optional: boolean;
}

export class CreateSignupDto {
  @Id({ description: 'The waitlist to join. A numeric string is accepted too.', lenient: true, example: 1 })
  waitlist_id!: number;

  @Email({ optional: true, nullable: true, description: 'Required unless the waitlist says otherwise.' })
  email?: string | null;

  @Phone({
    optional: true,
    nullable: true,
    description: "With its country code, or as dialed in the waitlist's default region.",
  })
  phone?: string | null;

  @PersonName({ optional: true, nullable: true, description: 'Visible to the owner only.', example: 'Ada' })
  first_name?: string | null;

  @PersonName({ optional: true, nullable: true, description: 'Visible to the owner only.', example: 'Lovelace' })
  last_name?: string | null;

  @AnyText({
    optional: true,
    nullable: true,
    maxLength: 2048,
    description:
      'URL of the page where the person signs up. A referral token in it credits the referrer; any other text is accepted and ignored.',
    example: 'https://example.com/join?ref_id=7ZZ0K3M9QXVB',
  })
  referral_link?: string | null;

  @Metadata({
    optional: true,
    nullable: true,
    description: 'Any JSON object of at most 16 KiB and 8 levels. Visible to the owner only.',
    example: { plan: 'team' },
  })
  metadata?: JsonObject | null;

  @CheckedByService({
    optional: true,
    nullable: true,
    type: [AnswerDto],
    maxItems: 3,
    description: 'Answers to the questions of the waitlist; ignored if it has none.',
    example: [],
  })
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
  @Id({ description: 'The waitlist to search.', lenient: true, example: 1 })
  waitlist_id!: number;

  @Email({
    optional: true,
    description: 'Give an email or a phone. A plus sign that was not percent-encoded is accepted.',
    lenient: true,
  })
  email?: string;

  @Phone({
    optional: true,
    description: 'In any notation of the same number. With its country code, unless the waitlist has a default region.',
    lenient: true,
  })
  phone?: string;
}

/** A record as the public may see it. */
export class SignupDto extends RecordDto {
  @ApiProperty({
    type: [GivenAnswerDto],
    maxItems: 3,
    description: 'One item for each question of the waitlist.',
    example: [],
  })
  answers!: GivenAnswerDto[];

  @ApiPropertyOptional({ ...EMAIL_SCHEMA, description: "Only if this call submitted the record's own email." })
  email?: string;

  @ApiPropertyOptional({ ...PHONE_SCHEMA, description: "Only if this call submitted the record's own phone." })
  phone?: string;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of active records ahead; 0 is first in line. An offboarded record keeps its last priority.',
    example: 0,
  })
  priority!: number;

  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'Token of the record that referred this one, or null.' })
  referred_by_signup_token!: string | null;

  @ApiProperty({ ...ID_SCHEMA, description: 'The waitlist.', example: 1 })
  waitlist_id!: number;

  static from({ waiter, waitlist, keys }: Found): SignupDto {
    const own: Besides<SignupDto> = {
      answers: waitlist.questions.map(({ text, optional }) => {
        const value = waiter.answers?.find(({ question }) => question === text)?.value ?? null;
        return { question_value: text, optional, answer_value: value as string | string[] | null };
      }),
      priority: waiter.priority,
      referred_by_signup_token: waiter.referredByToken,
      waitlist_id: waiter.waitlistId,
      ...(keys.emailKey !== null && keys.emailKey === waiter.emailKey && { email: waiter.email ?? undefined }),
      ...(keys.phoneKey !== null && keys.phoneKey === waiter.phoneKey && { phone: waiter.phone ?? undefined }),
    };
    return Object.assign(recordFields(waiter, waitlist.urlLocation), own);
  }
}
