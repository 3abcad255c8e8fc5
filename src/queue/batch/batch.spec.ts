import { describe, expect, it } from '@jest/globals';
import type { OwnerWrite } from '../../platform/idempotency/owner-write.js';
import { decide } from './batch.js';
import type { Command, Decision, Facts } from './facts.js';
import { CounterChanges, QUEUE_AXIS } from '../counters.js';
import { FRAUD_DEFAULTS } from '../../fraud/fraud-rules.js';
import { UNSUSPICIOUS } from '../../../test/support/applicant.js';
import { rankKey } from '../rank-key.js';
import type { Applicant, PersonChanges, Waiter } from '../waiter.js';
import type { Removal } from '../waiter.store.js';
import type { RequiredContact } from '../waitlist.entity.js';
import type { LeanWaitlist } from '../waitlist.table.js';

const CONTACT: RequiredContact = {
  email: 'required',
  phone: 'optional',
  first_name: 'optional',
  last_name: 'optional',
};
const WAITLIST = { id: 1, requiredContact: CONTACT, questions: [], spotsPerReferral: 2, nextSeq: 10, active: 10, offboarded: 0, referredActive: 0, referredOffboarded: 0, verification: 'off', fraud: FRAUD_DEFAULTS, nextPending: 0, nextEvent: 0 } as unknown as LeanWaitlist; // prettier-ignore

const JOINED = new Date('2026-01-31T23:59:59.999Z');

/** The record with this number as its id, its `seq`, its position and its token. */
function record(number: number, fields: Partial<Waiter> = {}): Waiter {
  const facts = { seq: number, creditedReferrals: 0, spotsAdvanced: 0 };
  const stored = {
    id: number,
    priority: number,
    creditedReferrals: 0,
    status: 'waiting',
    referred: false,
    uuid: `u${number}`,
  };
  return { ...facts, ...stored, referralToken: `T${number}`, rankKey: rankKey(facts, 2), createdAt: JOINED, removedAt: null, ...fields } as Waiter; // prettier-ignore
}

function join(email: string | null, fields: Partial<Applicant> = {}): Command {
  const nobody = {
    phone: null,
    firstName: null,
    lastName: null,
    metadata: null,
    answers: null,
    region: null,
    trust: UNSUSPICIOUS,
  };
  const applicant = { ...nobody, email, referrerTokens: [], ...fields };
  return { kind: 'join', applicant, keys: { emailKey: email, phoneKey: applicant.phone } };
}

function offboard(id: string, ...ids: readonly number[]): Command {
  return { kind: 'offboard', selection: { ids }, write: { id } as OwnerWrite };
}

function offboardNext(id: string, next: number): Command {
  return { kind: 'offboard', selection: { next }, write: { id } as OwnerWrite };
}

function correct(id: string, number: number, changes: PersonChanges): Command {
  const { email = null, phone = null } = changes;
  const keys = { emailKey: email, phoneKey: phone };
  return {
    kind: 'correct',
    uuid: `u${number}`,
    changes,
    keys,
    mailboxKey: null,
    region: null,
    write: { id } as OwnerWrite,
  };
}

function erase(id: string, ...numbers: readonly number[]): Command {
  return { kind: 'erase', uuids: numbers.map((number) => `u${number}`), write: { id } as OwnerWrite };
}

const NO_FACTS: Omit<Facts, 'waitlist'> = { named: [], first: [], done: new Map(), taken: [], referrers: [], links: [], mailboxes: [], recent: new Map(), hasSubscribers: false }; // prettier-ignore

function decideWith(facts: Partial<Facts>, ...commands: readonly Command[]): Decision {
  return decide({ ...NO_FACTS, waitlist: WAITLIST, ...facts }, commands);
}

const results = ({ outcomes }: Decision): unknown[] =>
  outcomes.map((outcome) => ('result' in outcome ? outcome.result : outcome.error));
const credits = ({ credited }: Decision) =>
  credited.map(({ id, creditedReferrals, rankKey: key }) => [id, creditedReferrals, key - rankKey(record(id), 2)]);
const removed = ({ removals }: Decision) => removals.map(({ priorities }) => [...priorities]);

describe('a batch', () => {
  it('puts each newcomer behind everyone, with the next sequence number', () => {
    const decision = decideWith({}, join('a@example.com'), join('b@example.com'));

    expect(decision.joined.map(({ seq, priority }) => [seq, priority])).toEqual([[10, 10], [11, 11]]); // prettier-ignore
    expect(decision.waitlist).toMatchObject({ nextSeq: 12, active: 12 });
    expect(results(decision)).toEqual(decision.joined.map((waiter) => expect.objectContaining({ waiter })));
  });

  it('offboards before it lets anyone join', () => {
    const decision = decideWith({ named: [record(3)] }, join('a@example.com'), offboard('x', 3));

    expect(results(decision)).toMatchObject([{ waiter: { priority: 9 } }, { uuids: ['u3'], active: 9 }]);
    expect(decision.waitlist).toMatchObject({ active: 10, offboarded: 1 });
  });

  it('reports the positions before each offboarding command, in the order of its ids', () => {
    const named = [1, 2, 5, 7].map((number) => record(number));
    const decision = decideWith({ named }, offboard('x', 5, 1), offboard('y', 7, 1, 2, 2));

    expect(results(decision)).toEqual([{ uuids: ['u5', 'u1'], active: 8 }, { uuids: ['u7', 'u2'], active: 6 }]); // prettier-ignore
    expect(removed(decision)).toEqual([[[5, 5], [1, 1]], [[7, 5], [2, 1]]]); // prettier-ignore
    expect(decision.written.map(({ write }) => write.id)).toEqual(['x', 'y']);
  });

  it('offboards the first of the queue, each command after the one before', () => {
    const first = [4, 2, 9, 7, 1].map((number, priority) => record(number, { priority }));
    const decision = decideWith({ named: [first[1]!], first }, offboardNext('x', 1), offboard('y', 2), offboardNext('z', 2)); // prettier-ignore

    expect(results(decision)).toMatchObject([{ uuids: ['u4'] }, { uuids: ['u2'] }, { uuids: ['u9', 'u7'] }]);
    expect(removed(decision)).toEqual([[[4, 0]], [[2, 0]], [[9, 0], [7, 1]]]); // prettier-ignore
  });

  it('recognizes an offboarding that an earlier attempt carried out', () => {
    const done = new Map([['x', ['u4']]]);
    const decision = decideWith({ done, first: [record(5)] }, offboardNext('x', 1));

    expect(results(decision)).toEqual([{ uuids: ['u4'], active: 10 }]);
    expect(decision).toMatchObject({ removals: [], written: [], waitlist: WAITLIST });
  });

  it('offboards, then erases, then corrects, then lets people join', () => {
    const named = [1, 2, 3, 4].map((number) => record(number, { emailKey: `${number}@example.com`, phoneKey: null }));
    const decision = decideWith(
      { named, taken: named },
      join('1@example.com'),
      join('2@example.com'),
      correct('b', 2, { email: '1@example.com' }),
      erase('c', 1, 4, 9),
      offboard('a', 4, 3),
    );

    expect(results(decision)).toMatchObject([
      { isNew: false },
      { waiter: { priority: 7 } },
      { uuids: ['u2'] },
      { uuids: ['u1', 'u4'] },
      { uuids: ['u4', 'u3'], active: 8 },
    ]);
    expect(decision.written.map(({ write: { id }, action }) => [id, action])).toEqual([
      ['a', 'waiters_offboarded'],
      ['c', 'waiters_erased'],
      ['b', 'waiter_corrected'],
    ]);
    expect(decision.erased.map(({ id }) => id)).toEqual([1, 4]);
    expect(decision.waitlist).toMatchObject({ active: 8, offboarded: 1, nextSeq: 11 });
  });

  it('gives a contact to the first correction that takes it', () => {
    const named = [1, 2, 3].map((number) => record(number, { emailKey: `${number}@example.com`, phoneKey: null }));
    const decision = decideWith(
      { named, taken: [named[0]!, named[1]!] },
      correct('a', 2, { email: '1@example.com' }),
      correct('b', 1, { email: 'new@example.com' }),
      correct('c', 3, { email: '1@example.com' }),
      correct('d', 2, { email: '1@example.com' }),
      correct('e', 3, { email: '3@example.com' }),
      correct('f', 9, {}),
    );

    expect(results(decision)).toMatchObject([
      { code: 'CONTACT_TAKEN' },
      { uuids: ['u1'] },
      { uuids: ['u3'] },
      { code: 'CONTACT_TAKEN' },
      { uuids: ['u3'] },
      { code: 'NO_WAITER_FOUND' },
    ]);
    expect(decision.corrections.map(({ id }) => id)).toEqual([1, 3]);
  });

  it('moves a record once that is advanced and refers, from its stored place to its last', () => {
    const facts = { waitlist: { ...WAITLIST, spotsPerReferral: 100 }, named: [record(6)], referrers: [record(6)] };
    const decision = decideWith(
      facts,
      join('a@example.com', { referrerTokens: ['T6'] }),
      correct('x', 6, { spotsToAdvance: 200 }),
      correct('y', 6, { spotsToAdvance: -50 }),
    );
    const onceMoved = new CounterChanges(WAITLIST);
    onceMoved.join(decision.joined[0]!);
    onceMoved.move(rankKey(record(6), 2), rankKey(record(6), 2) - 250, false);

    expect(credits(decision)).toEqual([[6, 1, -250]]);
    expect(decision.corrections.map(({ columns }) => columns.spotsAdvanced)).toEqual([200, 150]);
    expect(decision.counters.families()).toEqual(onceMoved.families());
  });

  it('counts an offboarding today, and takes an erased record out of the days that it counted on', () => {
    const gone = record(5, { referred: true, status: 'offboarded', removedAt: new Date('2026-02-01') });
    const decision = decideWith({ named: [record(3), record(4), gone] }, offboard('x', 3, 4), erase('y', 4, 5));
    const [{ at }] = decision.removals as [Removal];

    expect(decision.days.changed()).toEqual([
      { day: '2026-01-31', signups: -2, referred: -1, offboarded: 0, erased: 0 },
      { day: '2026-02-01', signups: 0, referred: 0, offboarded: -1, erased: 0 },
      { day: at.toISOString().slice(0, 10), signups: 0, referred: 0, offboarded: 1, erased: 2 },
    ]);
  });

  it('credits nobody with a referral by the token of a record that it erases', () => {
    const facts = { named: [record(6)], referrers: [record(6)] };
    const decision = decideWith(facts, join('a@example.com', { referrerTokens: ['T6'] }), erase('x', 6));

    expect(decision).toMatchObject({ credited: [], joined: [{ referredByToken: null }] });
  });

  it.each([
    ['a correction', correct('x', 4, { spotsToAdvance: 5 })],
    ['an erasure', erase('x', 4)],
  ])('recognizes %s that an earlier attempt carried out', (_, command) => {
    const decision = decideWith({ done: new Map([['x', ['u4']]]), named: [record(4)] }, command);

    expect(results(decision)).toMatchObject([{ uuids: ['u4'] }]);
    expect(decision).toMatchObject({ written: [], corrections: [], erased: [], waitlist: WAITLIST });
  });

  it.each([
    ['the email', join('a@example.com'), join('A@Example.com')],
    [
      'the phone',
      join('a@example.com', { phone: '+14155550123' }),
      join('b@example.com', { phone: '+1 415 555 0123' }),
    ],
  ])('makes one record of two joins with %s in common', (_, first, second) => {
    const decision = decideWith({}, first, second);

    expect(decision.joined).toHaveLength(1);
    expect(results(decision)).toMatchObject([{ waiter: decision.joined[0] }, { revealsRecord: false }]);
  });

  it('finds a known contact that breaks the rules, and says that it was a lookup', () => {
    const keys = { emailKey: null, phoneKey: '+14155550123' };
    const decision = decideWith({ taken: [record(3, keys)] }, join(null, { phone: '+14155550123' }));

    expect(results(decision)).toEqual([{ keys, isNew: false, revealsRecord: true }]);
    expect(decision.joined).toEqual([]);
  });

  it('rejects one command without an effect on the others', () => {
    const broken = join(null, { phone: '+14155550123', referrerTokens: ['T3'] });
    const invalid = join('nobody', { referrerTokens: ['T3'] });
    const decision = decideWith({ referrers: [record(3)] }, join('a@example.com'), broken, invalid, join('b@example.com', { phone: '+14155550123' })); // prettier-ignore

    expect(results(decision)).toMatchObject([
      { waiter: { seq: 10 } },
      { code: 'WAITLIST_RULE_BROKEN' },
      { code: 'INVALID_REQUEST' },
      { waiter: { seq: 11 } },
    ]);
    expect(credits(decision)).toEqual([]);
  });

  it('credits the first referrer that the waitlist knows, and nobody for a repeated signup', () => {
    const referred = join('a@example.com', { referrerTokens: ['unknown', 'T6', 'T3'] });
    const decision = decideWith({ referrers: [record(3), record(6)] }, referred, referred);

    expect(credits(decision)).toEqual([[6, 1, -2]]);
    expect(decision.joined).toMatchObject([{ referred: true, referredByToken: 'T6' }]);
    expect(decision.waitlist).toMatchObject({ referredActive: 1 });
  });

  it('credits a referrer for each of several referrals', () => {
    const joins = ['a', 'b', 'c'].map((name) => join(`${name}@example.com`, { referrerTokens: ['T6'] }));
    const decision = decideWith({ referrers: [record(6)] }, ...joins);

    expect(credits(decision)).toEqual([[6, 3, -6]]);
  });

  it('credits a referrer that it offboards, but does not move it in the queue', () => {
    const waitlist = { ...WAITLIST, spotsPerReferral: 100 };
    const facts = { waitlist, named: [record(6)], referrers: [record(6)] };
    const referred = join('a@example.com', { referrerTokens: ['T6'] });
    const queueChanges = ({ counters }: Decision) => counters.families().filter(({ axis }) => axis === QUEUE_AXIS.code);

    const decision = decideWith(facts, referred, offboard('x', 6));
    const withoutReferral = decideWith(facts, join('a@example.com'), offboard('x', 6));
    const withoutOffboarding = decideWith(facts, referred);

    expect(credits(decision)).toEqual([[6, 1, -100]]);
    expect(results(decision)).toMatchObject([{ waiter: { priority: 9 } }, { uuids: ['u6'] }]);
    expect(queueChanges(decision)).toEqual(queueChanges(withoutReferral));
    expect(queueChanges(withoutOffboarding)).not.toEqual([]);
  });
});
