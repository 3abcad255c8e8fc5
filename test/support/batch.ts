import type { AccountWrite } from '../../src/platform/idempotency/account-write.js';
import { FRAUD_DEFAULTS } from '../../src/fraud/fraud-rules.js';
import { rankKey } from '../../src/queue/order/rank-key.js';
import type { PersonChanges, Waiter } from '../../src/queue/record/waiter.js';
import type { RequiredContact } from '../../src/queue/settings/waitlist.entity.js';
import type { LeanWaitlist } from '../../src/queue/settings/waitlist.table.js';
import type { Command } from '../../src/queue/write/command.js';
import { correct as correctCommand } from '../../src/queue/write/commands/correct.js';
import { erase as eraseCommand } from '../../src/queue/write/commands/erase.js';
import { offboard as offboardCommand } from '../../src/queue/write/commands/offboard.js';
import type { Decided } from '../../src/queue/write/decide.js';
import type { Facts } from '../../src/queue/write/facts.js';

const CONTACT: RequiredContact = {
  email: 'required',
  phone: 'optional',
  first_name: 'optional',
  last_name: 'optional',
};
/** Ten people wait, with the numbers 0 to 9. */
export const WAITLIST = {
  id: 1,
  accountId: 1,
  requiredContact: CONTACT,
  questions: [],
  spotsPerReferral: 2,
  nextSeq: 10,
  active: 10,
  offboarded: 0,
  offered: 0,
  seatsTaken: 0,
  offers: null,
  referredActive: 0,
  referredOffered: 0,
  referredOffboarded: 0,
  verification: 'off',
  mailOnOffboarding: false,
  fraud: FRAUD_DEFAULTS,
  nextPending: 0,
  nextEvent: 0,
} as unknown as LeanWaitlist;
export const NO_FACTS: Facts = {
  waitlist: WAITLIST,
  named: [],
  first: [],
  done: new Map(),
  taken: [],
  referrers: [],
  links: [],
  offers: [],
  sendsMails: false,
  mailboxes: [],
  recent: new Map(),
  mailed: { records: new Set(), networks: new Set() },
  subscribers: [],
};
/** One webhook, for all events. */
export const SUBSCRIBERS: Facts['subscribers'] = [{ id: 1, events: [] }];
export const JOINED = new Date('2026-01-31T23:59:59.999Z');

/** The record with this number as its id, its `seq`, its position and its token. It waits. */
export function record(number: number, fields: Partial<Waiter> = {}): Waiter {
  const facts = { seq: number, creditedReferrals: 0, spotsAdvanced: 0, ...fields };
  return {
    id: number,
    uuid: `u${number}`,
    priority: number,
    status: 'waiting',
    verified: true,
    credit: 'none',
    referred: false,
    referredByToken: null,
    referralToken: `T${number}`,
    emailKey: `${number}@example.com`,
    phoneKey: null,
    mailboxKey: null,
    createdAt: JOINED,
    joinedPriority: number,
    removedAt: null,
    removedPriority: null,
    removedReason: null,
    offerExpiresAt: null,
    rankKey: rankKey(facts, WAITLIST.spotsPerReferral),
    ...facts,
  } as Waiter;
}

/** The write of an account with this key. */
export const byOwner = (id: string): AccountWrite => ({ id }) as AccountWrite;
export const uuidsOf = (numbers: readonly number[]): string[] => numbers.map((number) => `u${number}`);
export const offboard = (id: string, ...ids: readonly number[]) => offboardCommand({ ids }, byOwner(id));
export const erase = (id: string, ...numbers: readonly number[]) => eraseCommand(uuidsOf(numbers), byOwner(id));

export function correct(id: string, number: number, changes: PersonChanges): Command<unknown> {
  const { email = null, phone = null } = changes;
  const keys = { emailKey: email, phoneKey: phone };
  const offerCode = { codeHash: `${id}-code`, sealedCode: 'another' };
  return correctCommand({ uuid: `u${number}`, changes, keys, region: null, offerCode }, byOwner(id));
}

/** What each command of a batch returned, or the error. */
export const results = ({ outcomes }: Decided<unknown>): unknown[] =>
  outcomes.map((outcome) => ('result' in outcome ? outcome.result : outcome.error));
