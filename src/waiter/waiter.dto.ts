import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { COUNT_SCHEMA, ID_SCHEMA, TOKEN_SCHEMA, UUID_SCHEMA } from '../platform/contract/schemas.js';
import { timestamp, TIMESTAMP_SCHEMA } from '../platform/contract/timestamp.js';
import type { Answer, JsonObject, PageRequest, Waiter } from '../queue/waiter.js';
import { referralLink } from '../queue/referral-link.js';
import type { OwnedWaitlist } from '../waitlist/waitlist.service.js';

export const PAGE_SIZE_MAX = 100;
export const OFFBOARD_MAX = 1_000;
const API_KEY_BOUNDS = { minLength: 1, maxLength: 64 } as const;
const TOKEN = new RegExp(TOKEN_SCHEMA.pattern);
const API_KEY_EXAMPLE = '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4';

export class ListWaitersDto {
  @ApiPropertyOptional({
    description: 'API key of the waitlist. Required, here or in the header `api-key`.',
    ...API_KEY_BOUNDS,
  })
  api_key?: string;

  @ApiPropertyOptional({ ...COUNT_SCHEMA, default: 0, description: 'Number of Waiters to skip.' })
  offset?: number;

  @ApiPropertyOptional({
    maxLength: 64,
    description: 'A token: only those whom that Waiter referred. The word `true`: only those whom anyone referred.',
  })
  referral_token?: string;

  @ApiPropertyOptional({ default: false, description: 'Adds question_1..3 and answer_1..3 to each Waiter.' })
  questions_request?: boolean;

  @ApiPropertyOptional({ default: false, description: 'The offboarded Waiters instead of the active ones.' })
  offboarded_request?: boolean;

  @ApiPropertyOptional({
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    default: PAGE_SIZE_MAX,
    description: 'Page size.',
  })
  limit?: number;

  @ApiPropertyOptional({
    ...ID_SCHEMA,
    description: 'Starts after the Waiter with this id, whatever was offboarded in between; `offset` is ignored.',
  })
  after_id?: number;

  @ApiPropertyOptional({
    enum: ['joined', 'queue'],
    default: 'joined',
    description: 'In the order of joining, or of the line.',
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

class WaiterBaseDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Records that this one referred.', example: 0 })
  amount_referred!: number;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 254,
    description: 'As typed; null for a record without one.',
    example: 'ada@example.com',
  })
  email!: string | null;

  @ApiProperty({ ...ID_SCHEMA, description: 'Names the Waiter when offboarding.', example: 1 })
  id!: number;

  @ApiProperty({
    description: 'The link that this Waiter shares.',
    format: 'uri',
    maxLength: 2100,
    example: 'https://example.com/join?ref_id=7ZZ0K3M9QXVB',
  })
  referral_link!: string;

  @ApiProperty({ ...TOKEN_SCHEMA, description: 'What names this Waiter as a referrer.' })
  referral_token!: string;

  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'Token of the Waiter who referred this one.' })
  referred_by_waiter_token!: string | null;

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

  @ApiProperty({ ...UUID_SCHEMA, description: 'Names the record, for good; the public view has the same.' })
  uuid!: string;

  @ApiProperty({ description: 'Whether the contact data was verified; false in this version.', example: false })
  verified!: boolean;

  @ApiProperty({ maxLength: 64, description: 'The key that the caller presented.', example: API_KEY_EXAMPLE })
  waitlist_api_key!: string;
}

/** What a Waiter has besides. It is assigned to the rest: a spread takes five times as long. */
type Own<Dto extends WaiterBaseDto> = Omit<Dto, keyof WaiterBaseDto>;

const QUESTION = { maxLength: 500, description: 'Text of the question; with `questions_request=true`.' } as const;
const ANSWER = {
  maxLength: 65_536,
  description: 'The answer, a list joined with `, `; empty if there is none.',
} as const;

/** The specification gives `referral_token` two meanings: a token, and a boolean. */
function referrerOf(text: string): PageRequest['referredBy'] {
  if (text === '' || /^(false|0)$/i.test(text)) return null;
  if (/^(true|1)$/i.test(text)) return 'anyone';
  // Nobody has an empty token. A database may take one with a space or NUL after it for the one without.
  return { token: TOKEN.test(text) ? text : '' };
}

/** A Waiter as listed. */
export class WaiterDto extends WaiterBaseDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Active records ahead; 0 is first in line.', example: 0 })
  priority!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Active records of the waitlist.', example: 1 })
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
    const own: Own<WaiterDto> = {
      priority: waiter.priority,
      total_waiters_currently: totalCurrently,
      ...(withQuestions && questionFields(waiter, waitlist)),
    };
    return Object.assign(baseFields(waiter, waitlist), own);
  }
}

/** A Waiter as it is after offboarding. */
export class OffboardedWaiterDto extends WaiterBaseDto {
  @ApiProperty({ maxLength: 100, description: 'As given; empty where none was.', example: 'Ada' })
  first_name!: string;

  @ApiProperty({ maxLength: 100, description: 'As given; empty where none was.', example: 'Lovelace' })
  last_name!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'What the signup brought along.',
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

  @ApiProperty({ description: 'True: the Waiter has left the line.', example: true })
  removed_from_waitlist!: boolean;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'The same as `amount_referred`.', example: 0 })
  total_referrals!: number;

  @ApiProperty({ ...UUID_SCHEMA, description: 'The account that owns the waitlist.' })
  user_id!: string;

  @ApiProperty({ ...ID_SCHEMA, description: 'The waitlist.', example: 1 })
  waitlist_id!: number;

  static from(waiter: Waiter, waitlist: OwnedWaitlist, ownerUuid: string): OffboardedWaiterDto {
    const own: Own<OffboardedWaiterDto> = {
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

/** Names a Waiter; other attributes may be sent and are ignored. */
export class WaiterIdDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'As List Waiters gives it.', example: 1 })
  id!: number;
}

export class OffboardWaitersDto {
  @ApiPropertyOptional({
    description: 'API key of the waitlist. Required, here or in the header `api-key`.',
    ...API_KEY_BOUNDS,
    example: API_KEY_EXAMPLE,
  })
  api_key?: string;

  @ApiProperty({ enum: [true], type: Boolean, description: 'Must be true.', example: true })
  offboard_request!: boolean;

  @ApiProperty({ type: [WaiterIdDto], minItems: 1, maxItems: OFFBOARD_MAX, description: 'Whose turn has come.' })
  waiters!: WaiterIdDto[];
}

function baseFields(waiter: Waiter, waitlist: OwnedWaitlist): WaiterBaseDto {
  return {
    amount_referred: waiter.amountReferred,
    created_at: timestamp(waiter.createdAt),
    email: waiter.email,
    id: waiter.id,
    referral_link: referralLink(waitlist.urlLocation, waiter.referralToken),
    referral_token: waiter.referralToken,
    referred_by_waiter_token: waiter.referredByToken,
    removed_date: waiter.removedAt && timestamp(waiter.removedAt),
    removed_priority: waiter.removedPriority,
    uuid: waiter.uuid,
    verified: waiter.verified,
    waitlist_api_key: waitlist.apiKey,
  };
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
