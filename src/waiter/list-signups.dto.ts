import { AnyText, Count, Flag, Holds, Id, NotWith, OneOf, Text, WholeNumber } from '../platform/contract/fields.js';
import { Problem } from '../platform/problems/problem.js';
import { type AnyStatus, LARGE, type PageRequest, type Status } from '../queue/record/waiter.js';
import {
  anyStatusFault,
  nameKeyOf,
  NamePrefix,
  REFERRAL_TOKEN,
  referrerOf,
  sortFaults,
  STATUS,
} from './list-waiters.dto.js';

export const SIGNUPS_PAGE_SIZE_MAX = 1_000;
const PAGE_SIZE = 100;
const TOKENS_MAX = 100;
const TOKEN_LENGTH_MAX = 32;
const TOKEN = `[0-9A-Za-z_-]{1,${TOKEN_LENGTH_MAX}}`;

export class ListSignupsDto {
  @NotWith('status', 0)
  @NotWith('name', 0)
  @Count({ default: 0, lenient: true, description: 'Number of Waiters to skip. Not with `name` or `status`.' })
  offset = 0;

  @WholeNumber({
    default: PAGE_SIZE,
    minimum: 1,
    maximum: SIGNUPS_PAGE_SIZE_MAX,
    lenient: true,
    description: 'Page size.',
  })
  limit = PAGE_SIZE;

  @Id({ optional: true, lenient: true, description: 'Lists the Waiters after this id and ignores `offset`.' })
  after_id?: number;

  @NamePrefix()
  name?: string;

  @NotWith('status')
  @NotWith('name')
  @OneOf({
    optional: true,
    enum: ['queue', 'referrals'],
    description:
      'Sorts the active Waiters by queue position, the default, or by number of referrals, most first; of equal ones, the Waiter who joined first. Not with `name` or `status`; `referrals` takes an `offset` of at most 10,000.',
  })
  order?: 'queue' | 'referrals';

  @AnyText(REFERRAL_TOKEN)
  referral_token = '';

  @Text({
    optional: true,
    pattern: `^${TOKEN}(,${TOKEN}){0,${TOKENS_MAX - 1}}$`,
    maxLength: TOKENS_MAX * (TOKEN_LENGTH_MAX + 1) - 1,
    description: `Lists only the Waiters referred by one of the Waiters with these tokens: up to ${TOKENS_MAX}, separated by commas.`,
  })
  referral_tokens?: string;

  @Flag({ default: false, lenient: true, description: 'Adds question_1..3 and answer_1..3 to each Waiter.' })
  questions_request = false;

  @Flag({ default: false, lenient: true, description: 'Adds `referrer` to each Waiter.' })
  include_referrer = false;

  @NotWith('status', false)
  @Flag({ default: false, lenient: true, description: 'Lists the offboarded Waiters instead of the active ones.' })
  offboarded_request = false;

  @Holds('findsFew', anyStatusFault(['name']))
  @OneOf({ ...STATUS, description: `${STATUS.description} \`any\` needs a \`name\`.` })
  status?: Status | AnyStatus;

  /** @throws Problem `INVALID_REQUEST` */
  static toPage(query: ListSignupsDto): PageRequest {
    const faults = sortFaults(query);
    if (faults.length > 0) throw Problem.invalid(faults);
    return {
      status: query.status ?? (query.offboarded_request ? 'offboarded' : 'waiting'),
      credit: null,
      referredBy: referrersOf(query),
      keys: [],
      search: null,
      name: nameKeyOf(query),
      order: query.status === undefined ? (query.order ?? 'queue') : 'id',
      start: query.after_id === undefined ? { offset: query.offset } : { afterId: query.after_id },
      limit: query.limit,
      without: LARGE,
    };
  }
}

/** Both filters must hold. */
function referrersOf({ referral_token, referral_tokens }: ListSignupsDto): PageRequest['referredBy'] {
  const one = referrerOf(referral_token);
  if (referral_tokens === undefined) return one;
  const tokens = referral_tokens.split(',');
  if (one === null || one === 'anyone') return { tokens };
  const both = one.tokens.filter((token) => tokens.includes(token));
  // No record has an empty token.
  return { tokens: both.length > 0 ? both : [''] };
}
