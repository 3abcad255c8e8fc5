import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { CreateAccountKeyDto } from '../../src/auth/account-key.dto.js';
import { UpdateAccountDto } from '../../src/auth/account.dto.js';
import { InviteMemberDto, ListMembersDto, UpdateMemberDto, UpdateOwnMemberDto } from '../../src/auth/member.dto.js';
import { ListAuditEventsDto } from '../../src/auth/audit.dto.js';
import { ChangePasswordDto, CreateTokensDto } from '../../src/auth/auth.dto.js';
import {
  AcceptInvitationDto,
  ForgottenPasswordDto,
  ResetPasswordDto,
  ViewInvitationDto,
} from '../../src/auth/member-link.dto.js';
import { ResendVerificationDto } from '../../src/mail/verification.dto.js';
import { emailKey } from '../../src/platform/contract/email.js';
import { isDay, isHttpUrl, parseZonedTime } from '../../src/platform/contract/formats.js';
import { isPhoneAnywhere } from '../../src/platform/contract/phone.js';
import { readRequest } from '../../src/platform/contract/request.js';
import { Problem } from '../../src/platform/problems/problem.js';
import { GetPlaceDto } from '../../src/signup/place.dto.js';
import { CreateSignupDto, GetSignupDto } from '../../src/signup/signup.dto.js';
import { ListSignupsDto } from '../../src/waiter/list-signups.dto.js';
import { ListWaitersDto } from '../../src/waiter/list-waiters.dto.js';
import { DecideReferralsDto } from '../../src/waiter/decide-referrals.dto.js';
import { MakeOffersDto, OfferCodeDto, ReturnWaitersDto } from '../../src/waiter/offer.dto.js';
import { OffboardWaitersDto } from '../../src/waiter/offboard-waiters.dto.js';
import { OffboardSignupsDto } from '../../src/waiter/named-signups.dto.js';
import { UpdateWaiterDto } from '../../src/waiter/update-waiter.dto.js';
import { MailKindDto } from '../../src/mail/waitlist-mail.dto.js';
import { GetStatisticsDto, PreviewReorderDto } from '../../src/waitlist/statistics.dto.js';
import { ListReleasesDto, RunReleaseDto } from '../../src/waitlist/release.dto.js';
import { CreateWaitlistDto, ListWaitlistsDto, UpdateWaitlistDto } from '../../src/waitlist/waitlist.dto.js';
import {
  CreateWebhookDto,
  ListDeliveriesDto,
  ReplayDeliveriesDto,
  UpdateWebhookDto,
} from '../../src/webhook/webhook.dto.js';
import type { Schema } from '../support/contract.js';
import { SEED } from '../support/seed.js';

const RUNS = 400;

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

const text = readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8');
const { components, paths } = JSON.parse(text) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, { readonly get: { readonly parameters: readonly Parameter[] } }>>;
};

/** The schema of a query, which the document lists as parameters. */
function queryOf(path: string): Schema {
  const parameters = paths[path]!.get.parameters.filter((parameter) => parameter.in === 'query');
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

function omit({ properties = {}, ...schema }: Schema, name: string): Schema {
  return { ...schema, properties: Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name)) };
}

function pick({ properties = {}, ...schema }: Schema, names: readonly string[]): Schema {
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => names.includes(key))),
  };
}

const FILTERED_BY = ['email', 'phone', 'uuid', 'referral_token', 'waitlist_id', 'questions_request'];
const PAGED_WITH = ['status', 'offboarded_request', 'offset', 'order', 'limit', 'after_id'];
const { ChangePassword, CreateAccountKey, CreateSignup, CreateTokens, CreateWaitlist } = components.schemas;
const { CreateWebhook, ReplayDeliveries, ResendVerification, UpdateWebhook } = components.schemas;
const { AcceptInvitation, ForgottenPassword, InviteMember, ResetPassword, ViewInvitation } = components.schemas;
const { RunRelease } = components.schemas;
const { UpdateAccount, UpdateMember, UpdateOwnMember } = components.schemas;
const { MakeOffers, OfferCode, ReturnWaiters } = components.schemas;
const { DecideReferrals, OffboardSignups, OffboardWaiters, UpdateWaiter, UpdateWaitlist } = components.schemas;
/** The settings that pages read, in two parts: of fifteen random ones together, few requests have no fault. */
const WORDED = [
  'title',
  'success_title',
  'signup_button_title',
  'logo',
  'configuration_style_json',
  'twitter_message',
  'contact',
];
const SHOWN = [
  'uses_firstname_lastname',
  'uses_leaderboard',
  'leaderboard_length',
  'remove_widget_headers',
  'widget_shows_social_links',
  'lang',
  'your_turn_url',
  'frame_origins',
];
const DISPLAYED = [...WORDED, ...SHOWN];
/** What the form asks for. */
const ASKED = ['required_contact', 'questions'];
/** The settings of trust and of offers. */
const TRUSTED = ['verification', 'fraud', 'captcha', 'offers'];
/** The settings of mails. */
const MAILED = ['mails', 'mail_subject', 'mail_text', 'mail_on_offboarding', 'mail_on_signup'];
/** When people are offered a seat. */
const RELEASED = ['release_plan'];
/** Its keys are known to the service only; test/http/waitlist.spec.ts checks them. */
const TEXTS = 'texts';
const NAMES = ['id', 'public_key', 'slug'];
/** Rules about several values, which no schema states. */
type MoreRules = (given: Given) => boolean;
interface Given {
  readonly email?: string;
  readonly phone?: string;
  readonly uuid?: string;
  readonly search?: string;
  readonly name?: string;
  readonly status?: string;
  readonly credit?: string;
  readonly offboarded_request?: boolean;
  readonly offset?: number;
  readonly order?: string;
  readonly from?: string;
  readonly to?: string;
  readonly waiters?: readonly object[];
  readonly offboard_next?: number;
  readonly count?: number;
  readonly signups?: readonly object[];
  readonly expires_at?: string | null;
  readonly since?: string;
  readonly delivery_ids?: readonly string[];
  readonly required_contact?: { readonly email?: string; readonly phone?: string };
  readonly release_plan?: { readonly every: string; readonly at?: string | null; readonly weekdays?: unknown } | null;
  readonly questions?: readonly { readonly question_value: string; readonly soft_deleted?: boolean }[];
}

const isFuture: MoreRules = ({ expires_at: time }) => typeof time !== 'string' || Date.parse(time) > Date.now();

const isNamed: MoreRules = ({ email = '', phone = '', uuid = '' }) => `${email}${phone}${uuid}`.trim() !== '';

const isEmailGiven: MoreRules = ({ email = '' }) => email.trim() !== '';

const isPageOfSearch: MoreRules = ({ search, name, status, credit, offset = 0, order = 'joined', ...given }) =>
  ([search, name, status, credit].every((filter) => filter === undefined) || (offset === 0 && order === 'joined')) &&
  (name === undefined || (search === undefined && credit === undefined)) &&
  (status === undefined || !given.offboarded_request) &&
  (status !== 'any' || [search, name, given.email, given.phone, given.uuid].some((filter) => filter !== undefined));

const isPageOfNames: MoreRules = ({ name, status, offset = 0, order, offboarded_request: isOffboarded = false }) =>
  ((name === undefined && status === undefined) || (offset === 0 && order === undefined)) &&
  (status === undefined || !isOffboarded) &&
  (status !== 'any' || name !== undefined);

const isSpan: MoreRules = ({ from, to = new Date().toISOString().slice(0, 10) }) =>
  from === undefined || (from <= to && Date.parse(to) - Date.parse(from) < 366 * 86_400_000);

const isOneReplay: MoreRules = ({ since, delivery_ids: ids }) => (since === undefined) !== (ids === undefined);

const isOneSelection: MoreRules = ({ waiters, offboard_next: next }) => waiters === undefined || next === undefined;

/** The service asks for one of them. */
const isOneOffer: MoreRules = ({ count, signups }) => count === undefined || !signups;

const isSound: MoreRules = ({ required_contact: { email, phone } = {}, questions = [] }) => {
  const live = questions.filter((question) => !question.soft_deleted);
  const texts = new Set(live.map(({ question_value }) => question_value));
  const bytes = Buffer.byteLength(JSON.stringify(live));
  return !(email === 'off' && phone === 'off') && live.length <= 3 && texts.size === live.length && bytes <= 16 * 1024;
};

const isPlan: MoreRules = ({ release_plan: plan }) =>
  !plan || (plan.every === 'day' ? typeof plan.at === 'string' : (plan.at ?? plan.weekdays ?? null) === null);

const REQUESTS: readonly (readonly [dto: new () => object, schema: Schema, more?: MoreRules])[] = [
  // The service checks the answers, because the rule depends on the waitlist.
  [CreateSignupDto, omit(CreateSignup!, 'answers')],
  [GetSignupDto, queryOf('/api/v1/signup'), isNamed],
  [GetPlaceDto, queryOf('/api/v1/signup/place')],
  [ResendVerificationDto, ResendVerification!, isEmailGiven],
  [CreateTokensDto, CreateTokens!],
  [ChangePasswordDto, ChangePassword!],
  [CreateAccountKeyDto, CreateAccountKey!, isFuture],
  [UpdateAccountDto, UpdateAccount!],
  [ViewInvitationDto, ViewInvitation!],
  [AcceptInvitationDto, AcceptInvitation!],
  [ForgottenPasswordDto, ForgottenPassword!, isEmailGiven],
  [ResetPasswordDto, ResetPassword!],
  [InviteMemberDto, InviteMember!, isEmailGiven],
  [UpdateMemberDto, UpdateMember!],
  [UpdateOwnMemberDto, UpdateOwnMember!],
  [ListMembersDto, queryOf('/api/v1/member')],
  [ListAuditEventsDto, queryOf('/api/v1/audit')],
  // In parts: of fourteen random parameters together, few requests have no fault.
  [ListWaitersDto, ['search', 'name', 'status', 'credit', 'email', 'phone'].reduce(omit, queryOf('/api/v1/waiter'))],
  [ListWaitersDto, pick(queryOf('/api/v1/waiter'), FILTERED_BY)],
  [ListWaitersDto, pick(queryOf('/api/v1/waiter'), [...PAGED_WITH, 'search', 'credit']), isPageOfSearch],
  [ListWaitersDto, pick(queryOf('/api/v1/waiter'), [...PAGED_WITH, 'name']), isPageOfSearch],
  [ListWaitersDto, pick(queryOf('/api/v1/waiter'), ['search', 'credit', 'name']), isPageOfSearch],
  [OffboardWaitersDto, OffboardWaiters!, isOneSelection],
  [ListSignupsDto, omit(queryOf('/api/v1/signup/waitlist/{waitlist_id}'), 'name'), isPageOfNames],
  [
    ListSignupsDto,
    pick(queryOf('/api/v1/signup/waitlist/{waitlist_id}'), ['name', 'status', 'offset', 'order', 'offboarded_request']),
    isPageOfNames,
  ],
  [UpdateWaiterDto, UpdateWaiter!],
  [OffboardSignupsDto, OffboardSignups!],
  [DecideReferralsDto, DecideReferrals!],
  [MakeOffersDto, MakeOffers!, isOneOffer],
  [ReturnWaitersDto, ReturnWaiters!],
  [OfferCodeDto, OfferCode!],
  [ListReleasesDto, queryOf('/api/v1/waitlist/{waitlist_id}/release')],
  [RunReleaseDto, RunRelease!],
  [ListWaitlistsDto, queryOf('/api/v1/waitlist')],
  [CreateWebhookDto, CreateWebhook!],
  [UpdateWebhookDto, UpdateWebhook!],
  [ListDeliveriesDto, queryOf('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}/delivery')],
  [ReplayDeliveriesDto, ReplayDeliveries!, isOneReplay],
  [GetStatisticsDto, queryOf('/api/v1/waitlist/{waitlist_id}/statistics'), isSpan],
  [PreviewReorderDto, queryOf('/api/v1/waitlist/{waitlist_id}/reorder')],
  [MailKindDto, queryOf('/api/v1/waitlist/{waitlist_id}/mail_preview')],
  [
    CreateWaitlistDto,
    [...DISPLAYED, ...TRUSTED, ...MAILED, ...RELEASED, TEXTS, ...NAMES].reduce(omit, CreateWaitlist!),
    isSound,
  ],
  ...NAMES.map((name) => [CreateWaitlistDto, pick(CreateWaitlist!, [name, 'waitlist_name'])] as const),
  [CreateWaitlistDto, pick(CreateWaitlist!, [...WORDED, 'waitlist_name'])],
  [CreateWaitlistDto, pick(CreateWaitlist!, [...SHOWN, 'waitlist_name'])],
  [CreateWaitlistDto, pick(CreateWaitlist!, [...TRUSTED, 'waitlist_name'])],
  [CreateWaitlistDto, pick(CreateWaitlist!, [...MAILED, 'waitlist_name'])],
  [CreateWaitlistDto, pick(CreateWaitlist!, [...RELEASED, 'waitlist_name']), isPlan],
  [
    UpdateWaitlistDto,
    [...DISPLAYED, ...TRUSTED, ...MAILED, ...RELEASED, TEXTS, ...ASKED].reduce(omit, UpdateWaitlist!),
  ],
  [UpdateWaitlistDto, pick(UpdateWaitlist!, ASKED), isSound],
  [UpdateWaitlistDto, pick(UpdateWaitlist!, WORDED)],
  [UpdateWaitlistDto, pick(UpdateWaitlist!, SHOWN)],
  [UpdateWaitlistDto, pick(UpdateWaitlist!, TRUSTED)],
];
const formats = Object.fromEntries(
  [...text.matchAll(/"format": "([\w-]+)"/g)].map(([, name]) => [name!, true as const]),
);

/** Blank text counts as no address and no number. */
const FORMATS = {
  'http-url': isHttpUrl,
  contact: (text: string) =>
    text.startsWith('https://') ? isHttpUrl(text) : text === text.trim() && emailKey(text) !== null,
  date: isDay,
  'country-code': (text: string) => text === 'US',
  language: (text: string) => text === 'pt-BR',
  'time-zone': (text: string) => text === 'Europe/Berlin',
  'date-time': (text: string) => parseZonedTime(text) !== null,
  'idn-email': (text: string) => text.trim() === '' || emailKey(text) !== null,
  phone: (text: string) => text.trim() === '' || isPhoneAnywhere(text),
};

describe('the service accepts the requests that conform to the published schema, and no others', () => {
  it.each(REQUESTS.map(([dto, schema, more]) => [dto.name, dto, schema, more] as const))(
    `%s (seed ${SEED})`,
    (_, dto, schema, more = () => true) => {
      const ajv = new Ajv({ strict: false, formats: { ...formats, ...FORMATS } });
      const conforms = ajv.compile({ ...schema, components });
      let accepted = 0;
      fc.assert(
        fc.property(valuesOf(schema), (given) => {
          const request = accept(dto, given);
          // What is accepted in another notation than the documented one conforms once it is read.
          if (request) accepted += 1;
          return (conforms(request ?? given) && more((request ?? given) as Given)) === (request !== null);
        }),
        { seed: SEED, numRuns: RUNS },
      );
      expect(accepted).toBeGreaterThan(RUNS / 50);
      expect(accepted).toBeLessThan(RUNS);
    },
  );
});

/** The request as the handler gets it, or null if it is rejected. */
function accept(dto: new () => object, given: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(readRequest(dto, given)));
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'date-time': [
    '2999-01-31T00:00:00Z',
    '2999-01-31T00:00:00.123456789+01:00',
    '2999-02-30T00:00:00Z',
    '2026-01-01T00:00:00Z',
  ],
  date: ['2025-11-22', '2026-11-21', '2026-11-22', '2026-11-23', '2026-02-29', '2026-11-22T00:00:00Z'],
  'http-url': ['https://example.com/join'],
  contact: ['hello@example.com', 'https://example.com/help'],
  language: ['pt-BR', 'en-a'],
  'time-zone': ['Europe/Berlin', 'Mars/Base'],
  'idn-email': ['ada@example.com', 'é😀@bücher.example', 'ada@\u200bexample.com', ' '],
  phone: ['+14155550123', '030 901820', '+1', ''],
  uuid: ['0199f2a4-5b6c-7def-8a90-123456789abc', '0199F2A4-5B6C-7DEF-8A90-123456789ABC', '0199f2a4'],
};
const junk = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  '',
  '1',
  'true',
  [],
  [[]],
  [null],
  {},
  'x'.repeat(5_000),
);
const letters = fc.oneof(
  { weight: 16, arbitrary: fc.constantFrom('a', 'é', '😀') },
  { weight: 1, arbitrary: fc.constantFrom('x\ufe0f', '\n', '\u0085') },
);

/** Mostly what the schema allows, at its bounds or just beyond them; now and then something else. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 40, arbitrary: nearly(schema) }, { weight: 1, arbitrary: junk });
}

function nearly(schema: Schema): fc.Arbitrary<unknown> {
  const { minimum = 0, maximum = 9, minLength = 0, maxLength = 9, properties, required = [] } = schema;
  const examples = EXAMPLES[schema.format ?? ''];
  if (schema.$ref) return valuesOf(components.schemas[schema.$ref.split('/').at(-1)!]!);
  if (schema.allOf) return valuesOf(schema.allOf[0]!);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'integer') return around(minimum, maximum);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') return lists(schema);
  if (schema.type === 'string')
    return fc.oneof(
      // A repeated letter has none of these formats: too many of them, and a request with several fields always has a
      // fault.
      { weight: examples ? 8 : 1, arbitrary: fc.constantFrom(...(examples ?? ['a', 'US'])) },
      {
        weight: 1,
        arbitrary: fc.tuple(letters, around(minLength, maxLength)).map(([letter, length]) => letter.repeat(length)),
      },
    );
  if (!properties) return fc.dictionary(fc.constantFrom('a', 'toString', 'constructor'), fc.jsonValue({ maxDepth: 1 }));
  const fields = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valuesOf(inner)]));
  return fc.oneof(
    { weight: 16, arbitrary: fc.record(fields, { requiredKeys: [...required] }) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  );
}

function lists({ items = {}, minItems = 0, maxItems = 9 }: Schema): fc.Arbitrary<unknown> {
  const short = fc.array(valuesOf(items), { maxLength: 3 });
  const atBound = fc.tuple(valuesOf(items), around(minItems, maxItems));
  return fc.oneof(
    { weight: 8, arbitrary: short },
    { weight: 1, arbitrary: atBound.map(([item, length]) => Array<unknown>(length).fill(item)) },
  );
}

function around(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 16, arbitrary: fc.constantFrom(min, max) },
    { weight: 1, arbitrary: fc.constantFrom(Math.max(min - 1, 0), max + 1) },
  );
}
