import { emailKeyPrefix } from '../platform/contract/email.js';
import {
  AnyText,
  broken,
  Count,
  Email,
  Flag,
  Holds,
  Id,
  NotWith,
  OneOf,
  Phone,
  Text,
  Uuid,
  WholeNumber,
} from '../platform/contract/fields.js';
import { EMAIL_SCHEMA, isUuid } from '../platform/contract/formats.js';
import { NAME_KEY_LENGTH_MAX, nameKeyPrefix } from '../platform/contract/name-key.js';
import { phoneKey } from '../platform/contract/phone.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { contactFaults, contactKeys } from '../queue/record/contact.js';
import { isToken } from '../queue/record/referral-link.js';
import type { AnyStatus, Credit, PageRequest, RecordKey, Search, Status } from '../queue/record/waiter.js';
import { CREDITS, STATUSES } from '../queue/record/waiter.entity.js';
import { NamedWaitlistDto } from './named-waitlist.dto.js';

export const PAGE_SIZE_MAX = 100;
/** No counters are kept in this order: the records before are read. */
const REFERRALS_OFFSET_MAX = 10_000;
const FILTER = { optional: true, lenient: true } as const;
export const REFERRAL_TOKEN = {
  ...FILTER,
  maxLength: 64,
  description: 'Lists only the Waiters referred by the Waiter with this token; `true` lists all referred Waiters.',
} as const;

interface Sorted {
  readonly name?: string;
  readonly order?: string;
  readonly offset?: number;
  readonly offboarded_request: boolean;
}

export const STATUS = {
  optional: true,
  enum: [...STATUSES, 'any'],
  description:
    'Lists the Waiters of this status, sorted by id. `pending` ones have not verified their email yet, and are in no other list; `any` lists all others. Follow the `Link` header to the next page.',
} as const;

/** `status=any` needs one of these filters, which find few Waiters: no index has all statuses in one order. */
export function anyStatusFault(filters: readonly string[]) {
  return (status: string, query: Readonly<Record<string, unknown>>) =>
    status === 'any' && filters.every((filter) => query[filter] === undefined)
      ? broken('one_of', `must not be any without ${filters.join(' or ')}`)
      : null;
}

/** The query parameter `name`. */
export function NamePrefix() {
  return Text({
    ...FILTER,
    minLength: 2,
    maxLength: NAME_KEY_LENGTH_MAX,
    description:
      'Lists the Waiters whose name, last name first, begins with this text, sorted by name. Case and accents make no difference. Follow the `Link` header to the next page.',
    example: undefined,
  });
}

export class ListWaitersDto extends NamedWaitlistDto {
  @NotWith('credit', 0)
  @NotWith('status', 0)
  @NotWith('name', 0)
  @NotWith('search', 0)
  @Count({
    default: 0,
    lenient: true,
    description: 'Number of Waiters to skip. Not with `search`, `name`, `status` or `credit`.',
  })
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
    maxLength: EMAIL_SCHEMA.maxLength,
    description:
      'Lists the Waiters whose email begins with this text, whatever its case, sorted by email. The Waiters with exactly this phone, `referral_token` or `uuid` come first. Follow the `Link` header to the next page.',
  })
  search?: string;

  @NotWith('search')
  @NamePrefix()
  name?: string;

  @AnyText(REFERRAL_TOKEN)
  referral_token = '';

  @Flag({ default: false, lenient: true, description: 'Adds question_1..3 and answer_1..3 to each Waiter.' })
  questions_request = false;

  @Flag({ default: false, lenient: true, description: 'Adds `referrer` to each Waiter.' })
  include_referrer = false;

  @NotWith('status', false)
  @Flag({ default: false, lenient: true, description: 'Lists the offboarded Waiters instead of the active ones.' })
  offboarded_request = false;

  @Holds('findsFew', anyStatusFault(['email', 'phone', 'uuid', 'search', 'name']))
  @OneOf({
    ...STATUS,
    description: `${STATUS.description} \`any\` needs an \`email\`, \`phone\`, \`uuid\`, \`search\` or \`name\`.`,
  })
  status?: Status | AnyStatus;

  @NotWith('name')
  @OneOf({
    optional: true,
    enum: CREDITS,
    description:
      'Lists only the Waiters with this credit, sorted by id; the active ones without `status`. Follow the `Link` header to the next page.',
  })
  credit?: Credit;

  @WholeNumber({ default: PAGE_SIZE_MAX, minimum: 1, maximum: PAGE_SIZE_MAX, lenient: true, description: 'Page size.' })
  limit = PAGE_SIZE_MAX;

  @Id({ optional: true, lenient: true, description: 'Lists the Waiters after this id and ignores `offset`.' })
  after_id?: number;

  @NotWith('credit', 'joined')
  @NotWith('status', 'joined')
  @NotWith('name', 'joined')
  @NotWith('search', 'joined')
  @OneOf({
    default: 'joined',
    enum: ['joined', 'queue', 'referrals'],
    description:
      'Sorts by joining time, by queue position, or by number of referrals, most first; of equal ones, the Waiter who joined first. Not with `search`, `name`, `status` or `credit`; `referrals` lists active Waiters only, and takes an `offset` of at most 10,000.',
  })
  order?: 'joined' | 'queue' | 'referrals';

  /** `region` is the country of phone numbers without a country code. @throws Problem `INVALID_REQUEST` */
  static toPage(query: ListWaitersDto, region: string | null): PageRequest {
    const { email = null, phone = null, uuid, search, offset = 0, order = 'joined', status, credit = null } = query;
    const keys = contactKeys({ email, phone }, region);
    const faults = [...blankFaults(query), ...sortFaults(query), ...contactFaults({ email, phone }, keys, region)];
    if (faults.length > 0) throw Problem.invalid(faults);
    return {
      status: status ?? (query.offboarded_request ? 'offboarded' : 'waiting'),
      credit,
      referredBy: referrerOf(query.referral_token),
      keys: [
        ...keyOf('emailKey', keys.emailKey),
        ...keyOf('phoneKey', keys.phoneKey),
        ...keyOf('uuid', uuid?.toLowerCase()),
      ],
      search: search === undefined ? null : searchOf(search, region),
      name: nameKeyOf(query),
      order: status === undefined && credit === null ? order : 'id',
      start: query.after_id === undefined ? { offset } : { afterId: query.after_id },
      limit: query.limit,
      without: query.questions_request ? [] : ['answers'],
    };
  }
}

/** The specification gives `referral_token` two meanings: a token, and a boolean. */
export function referrerOf(text: string): PageRequest['referredBy'] {
  if (text === '' || /^(false|0)$/i.test(text)) return null;
  if (/^(true|1)$/i.test(text)) return 'anyone';
  // No record has an empty token. A database may ignore a space or NUL after a token.
  return { tokens: [isToken(text) ? text : ''] };
}

/** Faults of a `name` without letters to search for, and of `order=referrals` with what it does not go with. */
export function sortFaults({ name, order, offset = 0, offboarded_request: isOffboarded }: Sorted): FieldFault[] {
  return [
    ...(nameKeyOf({ name }) === ''
      ? [{ field: 'name', rule: 'min_length', message: 'must not be empty' } as const]
      : []),
    ...(order === 'referrals' && isOffboarded
      ? [{ field: 'order', rule: 'one_of', message: 'must not be referrals with offboarded_request' } as const]
      : []),
    ...(order === 'referrals' && offset > REFERRALS_OFFSET_MAX
      ? [
          {
            field: 'offset',
            rule: 'maximum',
            message: `must be at most ${REFERRALS_OFFSET_MAX} with order=referrals: use after_id`,
          } as const,
        ]
      : []),
  ];
}

export function nameKeyOf({ name }: Pick<Sorted, 'name'>): string | null {
  return name === undefined ? null : nameKeyPrefix(name);
}

/** A blank filter must not list all Waiters. */
function blankFaults(query: ListWaitersDto): FieldFault[] {
  const blank = (['email', 'phone', 'search'] as const).filter((field) => query[field]?.trim() === '');
  return blank.map((field) => ({ field, rule: 'min_length', message: 'must not be empty' }));
}

/** In a query, an unencoded plus sign arrives as a space. An email has no space, so each is read as a plus sign. */
function searchOf(typed: string, region: string | null): Search {
  const text = typed.trim();
  return {
    emailPrefix: emailKeyPrefix(text.replaceAll(' ', '+')),
    keys: [
      ...keyOf('phoneKey', phoneKey(typed.replace(/^ (?=\d)/, '+'), region)),
      ...keyOf('uuid', isUuid(text) ? text.toLowerCase() : null),
      ...keyOf('referralToken', isToken(text) ? text : null),
    ],
  };
}

function keyOf(column: RecordKey['column'], value: string | null = null): RecordKey[] {
  return value === null ? [] : [{ column, value }];
}
