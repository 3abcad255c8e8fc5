import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { AnyText, Confirmation, Count, Flag, Id, NestedList, OneOf, WholeNumber } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, ID_SCHEMA, isToken, TOKEN_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { type Besides, RecordDto, recordFields } from '../queue/record.dto.js';
import type { Answer, JsonObject, PageRequest, Waiter } from '../queue/waiter.js';
import type { OwnedWaitlist } from '../waitlist/waitlist.service.js';

export const PAGE_SIZE_MAX = 100;
export const OFFBOARD_MAX = 1_000;
const API_KEY_EXAMPLE = '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4';
const API_KEY = {
  description: 'API key of the waitlist. Required, here or in the header `api-key`.',
  minLength: 1,
  maxLength: 64,
  optional: true,
} as const;

export class ListWaitersDto {
  @AnyText(API_KEY)
  api_key?: string;

  @Count({ optional: true, default: 0, description: 'Number of Waiters to skip.', lenient: true })
  offset?: number;

  @AnyText({
    optional: true,
    maxLength: 64,
    description: 'A token: only Waiters whom that one referred. The word `true`: only Waiters whom anyone referred.',
    lenient: true,
  })
  referral_token?: string;

  @Flag({
    optional: true,
    default: false,
    description: 'Adds question_1..3 and answer_1..3 to each Waiter.',
    lenient: true,
  })
  questions_request?: boolean;

  @Flag({
    optional: true,
    default: false,
    description: 'The offboarded Waiters instead of the active ones.',
    lenient: true,
  })
  offboarded_request?: boolean;

  @WholeNumber({
    optional: true,
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    default: PAGE_SIZE_MAX,
    description: 'Page size.',
    lenient: true,
  })
  limit?: number;

  @Id({
    optional: true,
    description:
      'Starts after the Waiter with this id, whatever was offboarded in the meantime; `offset` is then ignored.',
    lenient: true,
  })
  after_id?: number;

  @OneOf({
    optional: true,
    enum: ['joined', 'queue'],
    default: 'joined',
    description: 'Sorts by time of joining, or by place in the queue.',
  })
  order?: 'joined' | 'queue';

  static toPage(query: ListWaitersDto): PageRequest {
    const {
      offset = 0,
      limit = PAGE_SIZE_MAX,
      after_id,
      order = 'joined',
      referral_token = '',
      offboarded_request = false,
      questions_request = false,
    } = query;
    return {
      offboarded: offboarded_request,
      referredBy: referrerOf(referral_token),
      order,
      start: after_id === undefined ? { offset } : { afterId: after_id },
      limit,
      withAnswers: questions_request,
    };
  }
}

class WaiterBaseDto extends RecordDto {
  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 254,
    description: 'As typed; null if the record has none.',
    example: 'ada@example.com',
  })
  email!: string | null;

  @ApiProperty({ ...ID_SCHEMA, description: 'Identifies the Waiter when offboarding.', example: 1 })
  id!: number;

  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'Token of the Waiter who referred this one, or null.' })
  referred_by_waiter_token!: string | null;

  @ApiProperty({ maxLength: 64, description: 'The API key that the caller presented.', example: API_KEY_EXAMPLE })
  waitlist_api_key!: string;
}

const QUESTION = { maxLength: 500, description: 'Text of the question; with `questions_request=true`.' } as const;
const ANSWER = {
  maxLength: 65_536,
  description: 'The answer, a list joined with `, `; empty if there is none.',
} as const;

/** The specification gives `referral_token` two meanings: a token, and a boolean. */
function referrerOf(text: string): PageRequest['referredBy'] {
  if (text === '' || /^(false|0)$/i.test(text)) return null;
  if (/^(true|1)$/i.test(text)) return 'anyone';
  // No record has an empty token. A database may ignore a space or NUL after a token.
  return { token: isToken(text) ? text : '' };
}

/** A Waiter as listed. */
export class WaiterDto extends WaiterBaseDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of active records ahead; 0 is first in line.', example: 0 })
  priority!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of active records of the waitlist.', example: 1 })
  total_waiters_currently!: number;

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

  static from(waiter: Waiter, waitlist: OwnedWaitlist, totalCurrently: number, withQuestions: boolean): WaiterDto {
    const own: Besides<WaiterDto, WaiterBaseDto> = {
      priority: waiter.priority,
      total_waiters_currently: totalCurrently,
      ...(withQuestions && questionFields(waiter, waitlist)),
    };
    return Object.assign(baseFields(waiter, waitlist), own);
  }
}

/** A Waiter after offboarding. */
export class OffboardedWaiterDto extends WaiterBaseDto {
  @ApiProperty({ maxLength: 100, description: 'As given; empty if none was.', example: 'Ada' })
  first_name!: string;

  @ApiProperty({ maxLength: 100, description: 'As given; empty if none was.', example: 'Lovelace' })
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

  @ApiProperty({ description: 'Whether another Waiter referred this one.', example: false })
  referral_bool!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 254,
    description: 'The email first registered.',
    example: 'ada@example.com',
  })
  registered_email!: string | null;

  @ApiProperty({ description: 'True: the Waiter has left the queue.', example: true })
  removed_from_waitlist!: boolean;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'The same as `amount_referred`.', example: 0 })
  total_referrals!: number;

  @ApiProperty({ ...UUID_SCHEMA, description: 'The account that owns the waitlist.' })
  user_id!: string;

  @ApiProperty({ ...ID_SCHEMA, description: 'The waitlist.', example: 1 })
  waitlist_id!: number;

  static from(waiter: Waiter, waitlist: OwnedWaitlist, ownerUuid: string): OffboardedWaiterDto {
    const own: Besides<OffboardedWaiterDto, WaiterBaseDto> = {
      first_name: waiter.firstName ?? '',
      last_name: waiter.lastName ?? '',
      metadata: waiter.metadata,
      phone: waiter.phone,
      referral_bool: waiter.referred,
      registered_email: waiter.registeredEmail,
      removed_from_waitlist: !waiter.active,
      total_referrals: waiter.amountReferred,
      user_id: ownerUuid,
      waitlist_id: waiter.waitlistId,
    };
    return Object.assign(baseFields(waiter, waitlist), own);
  }
}

/** Identifies a Waiter. Clients send its other fields too; they are ignored. */
export class WaiterIdDto {
  @Id({ description: 'As List Waiters returned it.', example: 1 })
  id!: number;
}

export class OffboardWaitersDto {
  @AnyText({ ...API_KEY, example: API_KEY_EXAMPLE })
  api_key?: string;

  @Confirmation({ description: 'Must be true.', example: true })
  offboard_request!: boolean;

  @NestedList(WaiterIdDto, { minItems: 1, maxItems: OFFBOARD_MAX, description: 'The Waiters to offboard.' })
  waiters!: WaiterIdDto[];
}

function baseFields(waiter: Waiter, { urlLocation, apiKey }: OwnedWaitlist): WaiterBaseDto {
  const own: Besides<WaiterBaseDto> = {
    email: waiter.email,
    id: waiter.id,
    referred_by_waiter_token: waiter.referredByToken,
    waitlist_api_key: apiKey,
  };
  return Object.assign(recordFields(waiter, urlLocation), own);
}

function questionFields(waiter: Waiter, { questions }: OwnedWaitlist) {
  const [first, second, third] = questions;
  const answerTo = (text: string | undefined) => answerText(waiter.answers?.find(({ question }) => question === text));
  return {
    question_1: first?.text ?? '',
    question_2: second?.text ?? '',
    question_3: third?.text ?? '',
    answer_1: answerTo(first?.text),
    answer_2: answerTo(second?.text),
    answer_3: answerTo(third?.text),
  };
}

function answerText(answer: Answer | undefined): string {
  return [answer?.value ?? ''].flat().join(', ');
}
