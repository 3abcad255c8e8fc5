import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  AnyText,
  CheckedByService,
  Email,
  Metadata,
  PersonName,
  Phone,
  Time,
  Uuid,
} from '../platform/contract/fields.js';
import { EMAIL_SCHEMA, ID_SCHEMA, parseZonedTime, PHONE_SCHEMA } from '../platform/contract/formats.js';
import { ANSWER_VALUE_SCHEMA, PRIORITY, RecordDto, recordFields } from '../queue/record/record.dto.js';
import { TOKEN_SCHEMA } from '../queue/record/referral-link.js';
import type { Found, JsonObject } from '../queue/record/waiter.js';
import { QUESTION_LENGTH_MAX } from '../queue/settings/questions.js';
import { OTHER_NAMES, WaitlistNameField } from '../waitlist/waitlist-name.js';
import { captchaTokenOf } from './captcha.service.js';
import type { SignupRequest, Sought } from './signup.service.js';

const ABSENT = { optional: true, nullable: true } as const;
/** Tokens of Turnstile have up to 2,048 characters, those of hCaptcha some thousand. */
const CAPTCHA_TOKEN = { ...ABSENT, maxLength: 16_384 } as const;
const NAME = { ...ABSENT, description: 'Visible to the owner only.' } as const;

/** One answer in a signup. The service checks it, so this only documents it. */
export class AnswerDto {
  @ApiProperty({
    maxLength: QUESTION_LENGTH_MAX,
    description: 'The text of the question.',
    example: 'How did you hear of us?',
  })
  question_value!: string;

  @ApiPropertyOptional({ description: "Ignored: the waitlist's own setting applies." })
  optional?: boolean;

  @ApiProperty(ANSWER_VALUE_SCHEMA)
  answer_value!: string | string[] | null;
}

/** A question of the waitlist with the answer to it. */
export class GivenAnswerDto extends AnswerDto {
  @ApiProperty({ required: true, description: 'Whether the question may be left unanswered.', example: true })
  declare optional: boolean;
}

export class CreateSignupDto {
  @WaitlistNameField({ description: `The waitlist to join. ${OTHER_NAMES}`, orIn: 'api_key', example: 1 })
  waitlist_id?: number | string;

  @WaitlistNameField({ isHidden: true, optional: true, unlessIn: 'waitlist_id' })
  api_key?: number | string;

  @Email({ ...ABSENT, description: 'Required by default; the waitlist can change that.' })
  email?: string | null;

  @Phone({ ...ABSENT, description: "Needs its country code, unless it is in the waitlist's default region." })
  phone?: string | null;

  @PersonName({ ...NAME, example: 'Ada' })
  first_name?: string | null;

  @PersonName({ ...NAME, example: 'Lovelace' })
  last_name?: string | null;

  @AnyText({
    ...ABSENT,
    maxLength: 2048,
    description: 'URL of the signup page. A referral token in it credits the referrer. Other text is ignored.',
    example: 'https://example.com/join?ref_id=7ZZ0K3M9QXVB',
  })
  referral_link?: string | null;

  @Metadata({
    ...ABSENT,
    description: 'Any JSON object of at most 16 KiB and 8 levels. Visible to the owner only.',
    example: { plan: 'team' },
  })
  metadata?: JsonObject | null;

  @CheckedByService({
    ...ABSENT,
    type: [AnswerDto],
    maxItems: 3,
    description: "Answers to the waitlist's questions; ignored if it has none.",
    example: [],
  })
  answers?: AnswerDto[] | null;

  @Time({
    ...ABSENT,
    description:
      "When a page opened its form, by the service's clock: `now` of the public view. A form that is sent faster than a person types, or with its field `website` filled, which people do not see, earns its referrer no credit. A time in the future or older than a day is ignored. Programs need not send it.",
  })
  form_opened_at?: string | null;

  /** The honeypot. Callers without `form_opened_at` may mean something else by the name. */
  @CheckedByService({ optional: true, isHidden: true })
  website?: unknown;

  @AnyText({
    ...CAPTCHA_TOKEN,
    description:
      'The token of the captcha, where the waitlist has one. Also accepted: the names that the widgets of the providers give it, `cf-turnstile-response` and `h-captcha-response`. It is ignored where there is no captcha.',
  })
  captcha_token?: string | null;

  @AnyText({ ...CAPTCHA_TOKEN, isHidden: true })
  'cf-turnstile-response'?: string | null;

  @AnyText({ ...CAPTCHA_TOKEN, isHidden: true })
  'h-captcha-response'?: string | null;

  static toRequest(body: CreateSignupDto): SignupRequest {
    return {
      waitlist: { waitlist_id: body.waitlist_id, api_key: body.api_key },
      email: body.email ?? null,
      phone: body.phone ?? null,
      firstName: body.first_name ?? null,
      lastName: body.last_name ?? null,
      referralLink: body.referral_link ?? null,
      metadata: body.metadata ?? null,
      answers: body.answers,
      formOpenedAt: parseZonedTime(body.form_opened_at ?? ''),
      isHoneypotFilled: typeof body.form_opened_at === 'string' && isFilled(body.website),
      captchaToken: captchaTokenOf(body),
    };
  }
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' ? value.trim() !== '' : value !== undefined && value !== null;
}

export class GetSignupDto {
  @WaitlistNameField({ description: `The waitlist to search. ${OTHER_NAMES}`, orIn: 'api_key', example: 1 })
  waitlist_id?: number | string;

  @WaitlistNameField({ isHidden: true, optional: true, unlessIn: 'waitlist_id' })
  api_key?: number | string;

  @Email({
    unless: ['phone', 'uuid'],
    lenient: true,
    description: 'Required without `phone` and `uuid`. Its plus signs may be unencoded.',
  })
  email?: string;

  @Phone({
    optional: true,
    lenient: true,
    description:
      "Required without `email` and `uuid`. Needs its country code, unless it is in the waitlist's default region.",
  })
  phone?: string;

  @Uuid({
    optional: true,
    description: 'The `uuid` of a signup, in place of `email` and `phone`, which are then ignored.',
  })
  uuid?: string;

  static toSought({ email, phone, uuid }: GetSignupDto): Sought {
    return { email: email ?? null, phone: phone ?? null, uuid: uuid?.toLowerCase() ?? null };
  }
}

/** A record as the public may see it. */
export class SignupDto extends RecordDto {
  @ApiProperty({
    type: [GivenAnswerDto],
    maxItems: 3,
    description:
      'One item for each question. `answer_value` is the given answer only in the response to the request that created the record; otherwise it is null. It is null there too if the database connection was lost during the commit.',
    example: [],
  })
  answers!: GivenAnswerDto[];

  @ApiPropertyOptional({ ...EMAIL_SCHEMA, description: "Present only if the request had the record's email." })
  email?: string;

  @ApiPropertyOptional({ ...PHONE_SCHEMA, description: "Present only if the request had the record's phone." })
  phone?: string;

  @ApiProperty(PRIORITY)
  priority!: number;

  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'Token of the record that referred this one, or null.' })
  referred_by_signup_token!: string | null;

  @ApiProperty({ ...ID_SCHEMA, description: 'The id of the waitlist.', example: 1 })
  waitlist_id!: number;

  static from({ waiter, waitlist, keys, isNew }: Found): SignupDto {
    return Object.assign(recordFields(waiter, waitlist), {
      answers: waitlist.questions.map(({ id, text, optional }) => {
        const given = isNew && waiter.answers?.find(({ question_id }) => question_id === id);
        const value = given ? given.value : null;
        return { question_value: text, optional, answer_value: value as string | string[] | null };
      }),
      priority: waiter.priority,
      referred_by_signup_token: waiter.referredByToken,
      waitlist_id: waiter.waitlistId,
      ...(keys.emailKey !== null && keys.emailKey === waiter.emailKey && { email: waiter.email ?? undefined }),
      ...(keys.phoneKey !== null && keys.phoneKey === waiter.phoneKey && { phone: waiter.phone ?? undefined }),
    } satisfies Omit<SignupDto, keyof RecordDto>);
  }
}
