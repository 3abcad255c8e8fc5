import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { emailKeyPrefix } from '../platform/contract/email.js';
import {
  AnyText,
  Confirmation,
  Count,
  Email,
  Flag,
  Id,
  NestedList,
  NotWith,
  OneOf,
  Phone,
  Text,
  Uuid,
  WholeNumber,
} from '../platform/contract/fields.js';
import { COUNT_SCHEMA, ID_SCHEMA, UUID_PATTERN, UUID_SCHEMA } from '../platform/contract/formats.js';
import { phoneKey } from '../platform/contract/phone.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { contactFaults, contactKeys } from '../queue/admission/contact.js';
import type { Selection } from '../queue/batch.js';
import { ANSWER_VALUE_SCHEMA, type Besides, RecordDto, recordFields } from '../queue/record.dto.js';
import { isToken, TOKEN_SCHEMA } from '../queue/referral-link.js';
import type { JsonObject, PageRequest, RecordKey, Search, Waiter } from '../queue/waiter.js';
import type { Question } from '../queue/waitlist.entity.js';
import type { OwnedWaitlist } from '../waitlist/waitlist.service.js';

export const PAGE_SIZE_MAX = 100;
export const OFFBOARD_MAX = 1_000;
export const API_KEY_EXAMPLE = '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4';
const API_KEY = {
  description: 'API key of the waitlist, here or in the header `api-key`. Required without `waitlist_id`.',
  maxLength: 64,
  optional: true,
} as const;
const WAITLIST_ID = {
  description:
    'A waitlist of your account, in place of its `api_key`. If both are given, they must name the same waitlist.',
  optional: true,
  lenient: true,
} as const;
const FILTER = { optional: true, lenient: true } as const;
const UUID = new RegExp(UUID_PATTERN);
const EMAIL = { type: String, nullable: true, maxLength: 254, example: 'ada@example.com' } as const;
const NAME = { maxLength: 100, description: 'As given, or empty.' } as const;
const QUESTION = { maxLength: 500, description: 'The text of the question, if `questions_request` is true.' } as const;
const ANSWER = {
  maxLength: 65_536,
  description: 'The answer. A list is joined with `, `; empty if there is none.',
} as const;

/** The fields that identify the waitlist. */
export class NamedWaitlistDto {
  @AnyText(API_KEY)
  api_key?: string;

  @Id(WAITLIST_ID)
  waitlist_id?: number;
}

export class ListWaitersDto extends NamedWaitlistDto {
  @NotWith('search', 0)
  @Count({ default: 0, lenient: true, description: 'Number of Waiters to skip. Not with `search`.' })
  offset?: number;

  @Email({ ...FILTER, example: undefined, description: 'Lists only the Waiter with this email, whatever its case.' })
  email?: string;

  @Phone({
    ...FILTER,
    example: undefined,
    description:
      "Lists only the Waiter with this phone, in any notation; without a country code in the waitlist's default region.",
  })
  phone?: string;

  @Uuid({ ...FILTER, description: 'Lists only the Waiter with this uuid.' })
  uuid?: string;

  @Text({
    ...FILTER,
    minLength: 1,
    maxLength: 254,
    description:
      'Lists the Waiters whose email begins with this text, whatever its case, sorted by email. The Waiters with exactly this phone, `referral_token` or `uuid` come first. Follow the `Link` header to the next page.',
  })
  search?: string;

  @AnyText({
    optional: true,
    lenient: true,
    maxLength: 64,
    description: 'Lists only the Waiters referred by the Waiter with this token; `true` lists all referred Waiters.',
  })
  referral_token = '';

  @Flag({ default: false, lenient: true, description: 'Adds question_1..3 and answer_1..3 to each Waiter.' })
  questions_request = false;

  @Flag({ default: false, lenient: true, description: 'Lists the offboarded Waiters instead of the active ones.' })
  offboarded_request = false;

  @WholeNumber({ default: PAGE_SIZE_MAX, minimum: 1, maximum: PAGE_SIZE_MAX, lenient: true, description: 'Page size.' })
  limit = PAGE_SIZE_MAX;

  @Id({ optional: true, lenient: true, description: 'Lists the Waiters after this id and ignores `offset`.' })
  after_id?: number;

  @NotWith('search', 'joined')
  @OneOf({
    default: 'joined',
    enum: ['joined', 'queue'],
    description: 'Sorts by joining time or queue position. Not with `search`.',
  })
  order?: 'joined' | 'queue';

  /** `region` is the country of phone numbers without a country code. @throws Problem `INVALID_REQUEST` */
  static toPage(query: ListWaitersDto, region: string | null): PageRequest {
    const { email = null, phone = null, uuid, search, offset = 0, order = 'joined' } = query;
    const keys = contactKeys({ email, phone }, region);
    const faults = [...blankFaults(query), ...contactFaults({ email, phone }, keys, region)];
    if (faults.length > 0) throw Problem.invalid(faults);
    return {
      offboarded: query.offboarded_request,
      referredBy: referrerOf(query.referral_token),
      keys: [
        ...keyOf('emailKey', keys.emailKey),
        ...keyOf('phoneKey', keys.phoneKey),
        ...keyOf('uuid', uuid?.toLowerCase()),
      ],
      search: search === undefined ? null : searchOf(search, region),
      order,
      start: query.after_id === undefined ? { offset } : { afterId: query.after_id },
      limit: query.limit,
      withAnswers: query.questions_request,
    };
  }
}

/** The specification gives `referral_token` two meanings: a token, and a boolean. */
function referrerOf(text: string): PageRequest['referredBy'] {
  if (text === '' || /^(false|0)$/i.test(text)) return null;
  if (/^(true|1)$/i.test(text)) return 'anyone';
  // No record has an empty token. A database may ignore a space or NUL after a token.
  return { token: isToken(text) ? text : '' };
}

/** A blank filter must not list everyone. */
function blankFaults(query: ListWaitersDto): FieldFault[] {
  const blank = (['email', 'phone', 'search'] as const).filter((field) => query[field]?.trim() === '');
  return blank.map((field) => ({ field, rule: 'min_length', message: 'must not be empty' }));
}

/** An email has no space, so one stands for an unencoded plus sign. */
function searchOf(typed: string, region: string | null): Search {
  const text = typed.trim();
  return {
    emailPrefix: emailKeyPrefix(text.replaceAll(' ', '+')),
    keys: [
      ...keyOf('phoneKey', phoneKey(typed.replace(/^ (?=\d)/, '+'), region)),
      ...keyOf('uuid', UUID.test(text) ? text.toLowerCase() : null),
      ...keyOf('referralToken', isToken(text) ? text : null),
    ],
  };
}

function keyOf(column: RecordKey['column'], value: string | null = null): RecordKey[] {
  return value === null ? [] : [{ column, value }];
}

/** A question of the waitlist with a Waiter's answer to it. */
export class OwnerAnswerDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'The id of the question.', example: 1 })
  id!: number;

  @ApiProperty({ maxLength: 500, description: 'The text of the question.', example: 'How did you hear of us?' })
  question_value!: string;

  @ApiProperty({ description: 'Whether the question may be left unanswered.', example: true })
  optional!: boolean;

  @ApiProperty(ANSWER_VALUE_SCHEMA)
  answer_value!: string | readonly string[] | null;

  @ApiProperty({ description: 'Whether the question was removed from the waitlist.', example: false })
  soft_deleted!: boolean;

  static from(
    { id, text, optional }: Question,
    answer_value: OwnerAnswerDto['answer_value'],
    soft_deleted: boolean,
  ): OwnerAnswerDto {
    return { id, question_value: text, optional, answer_value, soft_deleted };
  }
}

/** The data of a WaiterDto besides its record. */
interface WaiterView {
  readonly waitlist: OwnedWaitlist;
  readonly ownerUuid: string;
  /** Active records of the waitlist. */
  readonly totalCurrently: number;
  readonly withQuestions?: boolean;
}

/** A Waiter: the whole record, as its owner sees it in every answer. */
export class WaiterDto extends RecordDto {
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

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of active records ahead; 0 is first. An offboarded record keeps its last priority.',
    example: 0,
  })
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
    maxItems: 30,
    description:
      'If `questions_request` is true: each question with the answer to it, then the removed questions that the Waiter answered.',
  })
  answers?: OwnerAnswerDto[];

  static from(waiter: Waiter, { waitlist, ownerUuid, totalCurrently, withQuestions = false }: WaiterView): WaiterDto {
    return Object.assign(recordFields(waiter, waitlist), {
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
      removed_from_waitlist: !waiter.active,
      total_referrals: waiter.amountReferred,
      total_waiters_currently: totalCurrently,
      user_id: ownerUuid,
      waitlist_api_key: waitlist.apiKey,
      waitlist_id: waiter.waitlistId,
      ...(withQuestions && questionFields(waiter, waitlist)),
    } satisfies Besides<WaiterDto>);
  }
}

/** Identifies a Waiter. Clients send its other fields too; they are ignored. */
export class WaiterIdDto {
  @Id({ description: 'The `id` from List Waiters.', example: 1 })
  id!: number;
}

export class OffboardWaitersDto {
  @AnyText({ ...API_KEY, example: API_KEY_EXAMPLE })
  api_key?: string;

  @Id(WAITLIST_ID)
  waitlist_id?: number;

  @Confirmation({ description: 'Must be true.', example: true })
  offboard_request!: boolean;

  @NestedList(WaiterIdDto, {
    optional: true,
    minItems: 1,
    maxItems: OFFBOARD_MAX,
    description: 'The Waiters to offboard. Required without `offboard_next`.',
  })
  waiters?: WaiterIdDto[];

  @NotWith('waiters')
  @WholeNumber({
    optional: true,
    minimum: 1,
    maximum: OFFBOARD_MAX,
    description: 'Offboards this many from the front of the queue, in place of `waiters`.',
  })
  offboard_next?: number;

  /** @throws Problem `INVALID_REQUEST` without `waiters` and `offboard_next` */
  static toSelection({ waiters, offboard_next: next }: OffboardWaitersDto): Selection {
    if (waiters) return { ids: waiters.map(({ id }) => id) };
    if (next === undefined)
      throw Problem.invalid([
        { field: 'waiters', message: 'is required unless offboard_next is given', rule: 'required' },
      ]);
    return { next };
  }
}

function questionFields({ answers }: Waiter, { questions, removedQuestions }: OwnedWaitlist) {
  const valueOf = ({ id }: Question) => answers?.find(({ question_id }) => question_id === id)?.value ?? null;
  const [first, second, third] = questions;
  const answerTo = (question: Question | undefined) => [(question && valueOf(question)) ?? ''].flat().join(', ');
  return {
    question_1: first?.text ?? '',
    question_2: second?.text ?? '',
    question_3: third?.text ?? '',
    answer_1: answerTo(first),
    answer_2: answerTo(second),
    answer_3: answerTo(third),
    answers: [
      ...questions.map((question) => OwnerAnswerDto.from(question, valueOf(question), false)),
      ...removedQuestions
        .map((question) => OwnerAnswerDto.from(question, valueOf(question), true))
        .filter(({ answer_value }) => answer_value !== null),
    ],
  };
}
