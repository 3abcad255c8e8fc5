import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { CREDIT_REASONS, type CreditReason } from '../fraud/fraud-rules.js';
import { NAME_LENGTH_MAX } from '../platform/contract/fields.js';
import {
  COUNT_SCHEMA,
  EMAIL_SCHEMA,
  ID_SCHEMA,
  openEnum,
  openEnumList,
  UUID_SCHEMA,
} from '../platform/contract/formats.js';
import { answersOf, answerTo, type GivenAnswer } from '../queue/record/given-answers.js';
import { ANSWER_VALUE_SCHEMA, PRIORITY, RecordDto, recordFields } from '../queue/record/record.dto.js';
import { TOKEN_SCHEMA } from '../queue/record/referral-link.js';
import type { JsonObject, StoredWaiter, Waiter } from '../queue/record/waiter.js';
import { type Credit, CREDITS } from '../queue/record/waiter.entity.js';
import { QUESTION_LENGTH_MAX, QUESTIONS_MAX } from '../queue/settings/questions.js';
import type { Question } from '../queue/settings/waitlist.entity.js';
import type { Waitlist } from '../waitlist/waitlist.service.js';
import { API_KEY_EXAMPLE } from './named-waitlist.dto.js';

const EMAIL = { type: String, nullable: true, maxLength: EMAIL_SCHEMA.maxLength, example: 'ada@example.com' } as const;
const NAME = { maxLength: NAME_LENGTH_MAX, description: 'As given, or empty.' } as const;
const QUESTION = {
  maxLength: QUESTION_LENGTH_MAX,
  description: 'The text of the question, if `questions_request` is true.',
} as const;
const ANSWER = {
  maxLength: 65_536,
  description: 'The answer. A list is joined with `, `; empty if there is none.',
} as const;

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

/** A question of the waitlist with a Waiter's answer to it. */
export class OwnerAnswerDto implements GivenAnswer {
  @ApiProperty({ ...ID_SCHEMA, description: 'The id of the question.', example: 1 })
  id!: number;

  @ApiProperty({
    maxLength: QUESTION_LENGTH_MAX,
    description: 'The text of the question.',
    example: 'How did you hear of us?',
  })
  question_value!: string;

  @ApiProperty({ description: 'Whether the question may be left unanswered.', example: true })
  optional!: boolean;

  @ApiProperty(ANSWER_VALUE_SCHEMA)
  answer_value!: string | readonly string[] | null;

  @ApiProperty({ description: 'Whether the question was removed from the waitlist.', example: false })
  soft_deleted!: boolean;
}

/** The data of a WaiterDto besides its record. */
export interface WaiterView {
  /** With the key that the caller presented, if any. */
  readonly waitlist: Waitlist & { readonly apiKey?: string | null };
  readonly accountUuid: string;
  /** Active records of the waitlist. */
  readonly totalCurrently: number;
  readonly withQuestions?: boolean;
  /** The records that referred others, by their tokens; undefined where the answer does not show them. */
  readonly referrers?: ReadonlyMap<string, StoredWaiter>;
}

/** A Waiter: the whole record, as its owner sees it in every answer. */
export class WaiterDto extends RecordDto {
  @ApiProperty({
    ...openEnum(CREDITS),
    description:
      'Whether the referral of this Waiter counts for its referrer. `none`: nobody of this waitlist referred it. `credited`: it counts. `awaiting_verification`: it counts once the email is verified. `withheld`: it counts once you approve it. `refused`: it does not count.',
    example: 'none',
  })
  credit!: Credit;

  @ApiProperty({
    ...openEnumList(CREDIT_REASONS),
    description: 'All reasons to withhold the credit that applied at the signup.',
    example: [],
  })
  credit_reasons!: readonly CreditReason[];

  @ApiProperty({ ...EMAIL, description: 'As typed; null if the record has none.' })
  email!: string | null;

  @ApiProperty({ ...NAME, example: 'Ada' })
  first_name!: string;

  @ApiProperty({ ...ID_SCHEMA, description: 'Identifies the Waiter when offboarding.', example: 1 })
  id!: number;

  @ApiProperty({ ...NAME, example: 'Lovelace' })
  last_name!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'As the signup sent it.',
    example: { plan: 'team' },
  })
  metadata!: JsonObject | null;

  @ApiProperty({ type: String, nullable: true, maxLength: 32, description: 'As typed.', example: '+14155550123' })
  phone!: string | null;

  @ApiProperty(PRIORITY)
  priority!: number;

  @ApiProperty({ description: 'Whether another Waiter referred this one.', example: false })
  referral_bool!: boolean;

  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'Token of the Waiter that referred this one, or null.' })
  referred_by_waiter_token!: string | null;

  @ApiProperty({ ...EMAIL, description: 'The email first registered.' })
  registered_email!: string | null;

  @ApiProperty({ description: 'Whether the Waiter was offboarded.', example: false })
  removed_from_waitlist!: boolean;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'The same as `amount_referred`.', example: 0 })
  total_referrals!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of active records of the waitlist.', example: 1 })
  total_waiters_currently!: number;

  @ApiProperty({ ...UUID_SCHEMA, description: 'The account that owns the waitlist.' })
  user_id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 64,
    description: 'The API key that the caller presented; null if the request named the waitlist by its id.',
    example: API_KEY_EXAMPLE,
  })
  waitlist_api_key!: string | null;

  @ApiProperty({ ...ID_SCHEMA, description: 'The waitlist.', example: 1 })
  waitlist_id!: number;

  @ApiPropertyOptional(QUESTION)
  question_1?: string;

  @ApiPropertyOptional(QUESTION)
  question_2?: string;

  @ApiPropertyOptional(QUESTION)
  question_3?: string;

  @ApiPropertyOptional(ANSWER)
  answer_1?: string;

  @ApiPropertyOptional(ANSWER)
  answer_2?: string;

  @ApiPropertyOptional(ANSWER)
  answer_3?: string;

  @ApiPropertyOptional({
    type: [OwnerAnswerDto],
    maxItems: QUESTIONS_MAX,
    description:
      'If `questions_request` is true: each question with the answer to it, then the removed questions that the Waiter answered.',
  })
  answers?: OwnerAnswerDto[];

  @ApiProperty({
    ...REFERRER_SCHEMA,
    selfRequired: false,
    description:
      'In a listing with `include_referrer=true` and of a single Waiter: the Waiter that referred this one; null without one, and after its erasure.',
  })
  referrer?: Referrer | null;

  static from(
    waiter: Waiter,
    { waitlist, accountUuid, totalCurrently, withQuestions = false, referrers }: WaiterView,
  ): WaiterDto {
    const record = recordFields(waiter, waitlist);
    // One literal: a page of 100 is made and written in half the time of objects put together with Object.assign.
    const dto: WaiterDto = {
      amount_referred: record.amount_referred,
      created_at: record.created_at,
      referral_link: record.referral_link,
      referral_token: record.referral_token,
      removed_date: record.removed_date,
      removed_priority: record.removed_priority,
      removed_reason: record.removed_reason,
      offer_expires_at: record.offer_expires_at,
      status: record.status,
      uuid: record.uuid,
      verified: record.verified,
      credit: waiter.credit,
      credit_reasons: waiter.creditReasons,
      email: waiter.email,
      first_name: waiter.firstName ?? '',
      id: waiter.id,
      last_name: waiter.lastName ?? '',
      metadata: waiter.metadata,
      phone: waiter.phone,
      priority: waiter.priority,
      referral_bool: waiter.referred,
      referred_by_waiter_token: waiter.referredByToken,
      registered_email: waiter.registeredEmail,
      removed_from_waitlist: waiter.status === 'offboarded',
      total_referrals: waiter.creditedReferrals,
      total_waiters_currently: totalCurrently,
      user_id: accountUuid,
      waitlist_api_key: waitlist.apiKey ?? null,
      waitlist_id: waiter.waitlistId,
    };
    if (referrers) dto.referrer = referrerFrom(referrers.get(waiter.referredByToken ?? ''));
    return withQuestions ? Object.assign(dto, questionFields(waiter, waitlist)) : dto;
  }
}

function referrerFrom(referrer: StoredWaiter | undefined): Referrer | null {
  return referrer ? { uuid: referrer.uuid, email: referrer.email, referral_token: referrer.referralToken } : null;
}

function questionFields(waiter: Waiter, waitlist: Waitlist) {
  const [first, second, third] = waitlist.questions;
  const cellOf = (question: Question | undefined) =>
    [(question && answerTo(waiter, question.id)) ?? ''].flat().join(', ');
  return {
    question_1: first?.text ?? '',
    question_2: second?.text ?? '',
    question_3: third?.text ?? '',
    answer_1: cellOf(first),
    answer_2: cellOf(second),
    answer_3: cellOf(third),
    answers: answersOf(waiter, waitlist),
  };
}
