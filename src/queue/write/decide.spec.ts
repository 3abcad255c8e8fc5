import { describe, expect, it } from '@jest/globals';
import type { VerificationLinkEntity } from '../../outbox/verification-link.entity.js';
import { decide, type Decided } from './decide.js';
import type { Command } from './command.js';
import { join as joinCommand } from './commands/join.js';
import { leave } from './commands/leave.js';
import { offboard as offboardCommand } from './commands/offboard.js';
import { verify } from './commands/verify.js';
import type { Facts } from './facts.js';
import { QUEUE_AXIS } from '../order/counters.js';
import { LedgerChanges } from '../order/ledger-changes.js';
import { contactKeys } from '../record/contact.js';
import { FRAUD_DEFAULTS } from '../../fraud/fraud-rules.js';
import { UNSUSPICIOUS } from '../../../test/support/applicant.js';
import {
  byOwner,
  correct,
  erase,
  NO_FACTS,
  offboard,
  record,
  results,
  SUBSCRIBERS,
  WAITLIST,
} from '../../../test/support/batch.js';
import { rankKey } from '../order/rank-key.js';
import type { Applicant, Waiter } from '../record/waiter.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';

function join(email: string | null, fields: Partial<Applicant> = {}): Command<unknown> {
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
  return joinCommand({ ...applicant, keys: contactKeys(applicant, applicant.region) });
}

function offboardNext(id: string, next: number): Command<unknown> {
  return offboardCommand({ next }, byOwner(id));
}

function decideWith(facts: Partial<Facts>, ...commands: readonly Command<unknown>[]): Decided<unknown> {
  return decide({ ...NO_FACTS, ...facts }, commands);
}

const credits = ({ changedReferrers }: Decided<unknown>) =>
  changedReferrers.map(({ id, creditedReferrals, rankKey: key }) => [
    id,
    creditedReferrals,
    key - rankKey(record(id), 2),
  ]);
const removed = ({ statusChanges }: Decided<unknown>) =>
  statusChanges.flatMap(({ records }) => Array.from(records, ([id, { removedPriority }]) => [id, removedPriority]));

describe('a batch', () => {
  it('puts each newcomer behind everyone, with the next sequence number', () => {
    const decision = decideWith({}, join('a@example.com'), join('b@example.com'));

    expect(decision.joined.map(({ seq, priority }) => [seq, priority])).toEqual([
      [10, 10],
      [11, 11],
    ]);
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

    expect(results(decision)).toEqual([
      { uuids: ['u5', 'u1'], active: 8 },
      { uuids: ['u7', 'u2'], active: 6 },
    ]);
    expect(removed(decision)).toEqual(
      [
        [
          [5, 5],
          [1, 1],
        ],
        [
          [7, 5],
          [2, 1],
        ],
      ].flat(),
    );
    expect(decision.written.map(({ write }) => write.id)).toEqual(['x', 'y']);
  });

  it('offboards the first of the queue, each command after the one before', () => {
    const first = [4, 2, 9, 7, 1].map((number, priority) => record(number, { priority }));
    const decision = decideWith(
      { named: [first[1]!], first },
      offboardNext('x', 1),
      offboard('y', 2),
      offboardNext('z', 2),
    );

    expect(results(decision)).toMatchObject([{ uuids: ['u4'] }, { uuids: ['u2'] }, { uuids: ['u9', 'u7'] }]);
    expect(removed(decision)).toEqual(
      [
        [[4, 0]],
        [[2, 0]],
        [
          [9, 0],
          [7, 1],
        ],
      ].flat(),
    );
  });

  it('recognizes an offboarding that an earlier attempt carried out', () => {
    const done = new Map([['x', ['u4']]]);
    const decision = decideWith({ done, first: [record(5)] }, offboardNext('x', 1));

    expect(results(decision)).toEqual([{ uuids: ['u4'], active: 10 }]);
    expect(decision).toMatchObject({ statusChanges: [], written: [], waitlist: WAITLIST });
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

  it('counts one move for a record that is both advanced and credited, from its stored position to its last', () => {
    const facts = { waitlist: { ...WAITLIST, spotsPerReferral: 100 }, named: [record(6)], referrers: [record(6)] };
    const decision = decideWith(
      facts,
      join('a@example.com', { referrerTokens: ['T6'] }),
      correct('x', 6, { spotsToAdvance: 200 }),
      correct('y', 6, { spotsToAdvance: -50 }),
    );
    const onceMoved = new LedgerChanges({ ...WAITLIST });
    onceMoved.join(decision.joined[0]!);
    onceMoved.counters.move(rankKey(record(6), 2), rankKey(record(6), 2) - 250, false);

    expect(credits(decision)).toEqual([[6, 1, -250]]);
    expect(decision.corrections.map(({ columns }) => columns.spotsAdvanced)).toEqual([150]);
    expect(decision.ledger.counters.families()).toEqual(onceMoved.counters.families());
  });

  it('counts an offboarding today, and takes an erased record out of the days that it counted on', () => {
    const gone = record(5, { referred: true, status: 'offboarded', removedAt: new Date('2026-02-01') });
    const decision = decideWith({ named: [record(3), record(4), gone] }, offboard('x', 3, 4), erase('y', 4, 5));
    const { at } = decision;

    expect(decision.ledger.days.changed()).toMatchObject([
      { day: '2026-01-31', signups: -2, referred: -1, offboarded: 0, erased: 0 },
      { day: '2026-02-01', signups: 0, referred: 0, offboarded: -1, erased: 0 },
      { day: at.toISOString().slice(0, 10), signups: 0, referred: 0, offboarded: 1, erased: 2 },
    ]);
  });

  it('credits nobody with a referral by the token of a record that it erases', () => {
    const facts = { named: [record(6)], referrers: [record(6)] };
    const decision = decideWith(facts, join('a@example.com', { referrerTokens: ['T6'] }), erase('x', 6));

    expect(decision).toMatchObject({ changedReferrers: [], joined: [{ referredByToken: null }] });
  });

  it('takes the credit of somebody who leaves back, also from a referrer who leaves or is erased in the same batch', () => {
    const six = record(6, { creditedReferrals: 3, referred: true });
    const referred = [1, 2, 3].map((number) => record(number, { referredByToken: 'T6', credit: 'credited' }));
    const pending = record(4, { status: 'pending', referredByToken: 'T6', credit: 'awaiting_verification' });
    const facts = { named: [...referred, pending], referrers: [six] };
    const decision = decideWith(
      facts,
      leave('u1', () => true, 'r'),
      leave('u2', () => true, 'r'),
      leave('u4', () => true, 'r'),
      leave('u9', () => true, 'r'),
    );
    const gone = decideWith(
      { ...facts, named: [...facts.named, six] },
      leave('u1', () => true, 'r'),
      leave('u6', () => true, 'r'),
    );
    const stored = new LedgerChanges({ ...WAITLIST });
    for (const one of [referred[0]!, six]) stored.erase(one, new Date());

    expect(results(decision)).toEqual([{ uuids: ['u1'] }, { uuids: ['u2'] }, { uuids: ['u4'] }, { uuids: [] }]);
    expect(credits(decision)).toEqual([[6, 1, -2]]);
    expect(decision.erased.map(({ id, credit }) => [id, credit])).toEqual([
      [1, 'refused'],
      [2, 'refused'],
      [4, 'awaiting_verification'],
    ]);
    expect(decision.written.map(({ action, uuids }) => [action, uuids])).toEqual([
      ['waiter_left', ['u1']],
      ['waiter_left', ['u2']],
      ['waiter_left', ['u4']],
    ]);
    expect(gone).toMatchObject({ changedReferrers: [], erased: [{ id: 1 }, { id: 6, creditedReferrals: 2 }] });
    expect(gone.ledger.counters.families()).toEqual(stored.counters.families());
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
    const decision = decideWith(
      { referrers: [record(3)] },
      join('a@example.com'),
      broken,
      invalid,
      join('b@example.com', { phone: '+14155550123' }),
    );

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
    const queueChanges = ({ ledger }: Decided<unknown>) =>
      ledger.counters.families().filter(({ axis }) => axis === QUEUE_AXIS.code);

    const decision = decideWith(facts, referred, offboard('x', 6));
    const withoutReferral = decideWith(facts, join('a@example.com'), offboard('x', 6));
    const withoutOffboarding = decideWith(facts, referred);

    expect(credits(decision)).toEqual([[6, 1, -100]]);
    expect(results(decision)).toMatchObject([{ waiter: { priority: 9 } }, { uuids: ['u6'] }]);
    expect(queueChanges(decision)).toEqual(queueChanges(withoutReferral));
    expect(queueChanges(withoutOffboarding)).not.toEqual([]);
  });

  describe('of a waitlist that requires verification', () => {
    const waitlist = { ...WAITLIST, verification: 'required' } as LeanWaitlist;
    const at = new Date();
    const link = (number: number, tokenHash = `l${number}`): VerificationLinkEntity => ({
      tokenHash,
      waitlistId: 1,
      waiterUuid: `u${number}`,
      emailKey: `${number}@example.com`,
      createdAt: at,
      expiresAt: new Date(at.getTime() + 60_000),
      usedAt: null,
    });
    const pending = (number: number, fields: Partial<Waiter> = {}) =>
      record(number, {
        seq: -number,
        status: 'pending',
        verified: false,
        emailKey: `${number}@example.com`,
        phoneKey: null,
        mailboxKey: null,
        referredByToken: null,
        credit: 'none',
        ...fields,
      });
    const click = (tokenHash: string): Command<unknown> => verify(tokenHash);

    it('takes newcomers without counting them, and mails each once', () => {
      const decision = decideWith(
        { waitlist, subscribers: SUBSCRIBERS, referrers: [record(3)] },
        join('a@example.com', { referrerTokens: ['T3'] }),
        join('a@example.com'),
        join('b@example.com'),
      );

      expect(decision.joined.map(({ seq, status, priority, credit }) => [seq, status, priority, credit])).toEqual([
        [-1, 'pending', 10, 'awaiting_verification'],
        [-2, 'pending', 10, 'none'],
      ]);
      expect(decision.waitlist).toMatchObject({ nextSeq: 10, nextPending: 2, active: 10, referredActive: 0 });
      expect([decision.ledger.counters.families(), decision.ledger.days.changed(), decision.changedReferrers]).toEqual([
        [],
        [],
        [],
      ]);
      expect(decision.mails.map(({ emailKey }) => emailKey)).toEqual(['a@example.com', 'b@example.com']);
      expect(decision.events).toEqual([]);
    });

    it('puts records in the queue in the order of their clicks, counts them on the day of their signup, and credits their referrers', () => {
      const referred = pending(5, { referred: true, referredByToken: 'T3', credit: 'awaiting_verification' });
      const facts = {
        waitlist,
        subscribers: SUBSCRIBERS,
        named: [referred, pending(6)],
        referrers: [record(3)],
        links: [link(6), link(5), link(5, 'other')],
      };
      const decision = decideWith(facts, click('l5'), join('a@example.com'), click('l6'), click('l5'), click('other'));

      expect(results(decision)).toMatchObject([
        { uuids: ['u5'] },
        { waiter: { priority: 12 } },
        { uuids: ['u6'] },
        { uuids: ['u5'] },
        { code: 'LINK_NOT_FOUND' },
      ]);
      expect(decision.corrections).toMatchObject([
        { id: 5, columns: { seq: 10, status: 'waiting', verified: true, credit: 'credited' } },
        { id: 6, columns: { seq: 11, status: 'waiting', verified: true } },
      ]);
      expect(credits(decision)).toEqual([[3, 1, -2]]);
      expect(decision.ledger.days.changed()).toMatchObject([
        { day: '2026-01-31', signups: 2, referred: 1, offboarded: 0, erased: 0 },
      ]);
      expect(
        decision.events.map(({ number, event, uuid, referredUuid }) => [number, event, uuid, referredUuid]),
      ).toEqual([
        [0, 'new_signup', 'u5', null],
        [1, 'verified_signup', 'u5', null],
        [2, 'referral_credited', 'u3', 'u5'],
        [3, 'new_signup', 'u6', null],
        [4, 'verified_signup', 'u6', null],
      ]);
      expect(decision.waitlist).toMatchObject({ nextSeq: 12, active: 12, nextEvent: 5 });
      expect(decision.usedLinks.map(({ tokenHash }) => tokenHash)).toEqual(['l5', 'l6']);
    });

    it('counts a record that enters the queue and moves in the same batch once, at its last place', () => {
      const facts = {
        waitlist: { ...waitlist, spotsPerReferral: 100 },
        named: [pending(5)],
        referrers: [pending(5)],
        links: [link(5)],
      };
      const advance = correct('x', 5, { spotsToAdvance: 300 });
      const decision = decideWith(facts, advance, click('l5'));
      const entered = {
        ...record(5),
        seq: 10,
        rankKey: rankKey({ seq: 10, creditedReferrals: 0, spotsAdvanced: 300 }, 100),
      };
      const once = new LedgerChanges({ ...WAITLIST });
      once.join(entered);

      expect(decision.ledger.counters.families()).toEqual(once.counters.families());
    });

    it.each<[string, VerificationLinkEntity[]]>([
      ['wrong', []],
      ['old', [{ ...link(5), expiresAt: at }]],
      ['sent to another email', [{ ...link(5), emailKey: 'old@example.com' }]],
    ])('refuses a link that is %s', (_, links) => {
      const decision = decideWith({ waitlist, named: [pending(5)], links }, click('l5'));

      expect(results(decision)).toMatchObject([{ code: 'LINK_NOT_FOUND' }]);
    });

    it('mails a corrected email, ends the old links, and lets approved credit wait for the click', () => {
      const referred = record(5, {
        verified: true,
        emailKey: '5@example.com',
        phoneKey: null,
        referredByToken: 'T3',
        credit: 'withheld',
      });
      const decision = decideWith(
        { waitlist, named: [referred], referrers: [record(3)] },
        correct('x', 5, { email: 'new@example.com', credit: 'credited' }),
      );

      expect(decision.corrections).toMatchObject([{ columns: { verified: false, credit: 'awaiting_verification' } }]);
      expect([decision.changedEmails, credits(decision)]).toEqual([['u5'], []]);
      expect(decision.mails).toMatchObject([{ waiterUuid: 'u5', emailKey: 'new@example.com', network: null }]);
    });

    it('erases a pending record without a tombstone, a count or an event', () => {
      const decision = decideWith({ waitlist, subscribers: SUBSCRIBERS, named: [pending(5)] }, erase('x', 5));

      expect(decision).toMatchObject({ erased: [{ id: 5 }], events: [], waitlist });
      expect([decision.ledger.counters.families(), decision.ledger.days.changed()]).toEqual([[], []]);
    });
  });

  describe('judges a referral', () => {
    const referral = (email: string, trust: Partial<Applicant['trust']> = {}): Command<unknown> =>
      join(email, { referrerTokens: ['T6'], trust: { ...UNSUSPICIOUS, ...trust } });
    const judged = ({ joined }: Decided<unknown>) =>
      joined.map(({ credit, creditReasons }) => [credit, ...creditReasons]);
    const facts = { referrers: [record(6)], subscribers: SUBSCRIBERS };

    it('and withholds its credit for every reason that applies, with the same answer and place as any other signup', () => {
      const signals = { ...UNSUSPICIOUS.signals, isDisposable: true, isHoneypotFilled: true };
      const decision = decideWith(facts, referral('a@example.com', { signals }));

      expect(judged(decision)).toEqual([['withheld', 'disposable_domain', 'honeypot']]);
      expect(results(decision)).toMatchObject([{ waiter: { priority: 10, referredByToken: 'T6' }, isNew: true }]);
      expect(credits(decision)).toEqual([]);
      expect([decision.signups.length, decision.events]).toEqual([1, []]);
    });

    it('against the mailboxes of the waitlist: those that join in the same batch count, those that it gives up do not', () => {
      const mailboxes = ['old@example.com', 'gone@example.com'].map((mailbox, index) => ({
        uuid: `u${index + 1}`,
        mailbox,
      }));
      const named = [record(2, { emailKey: 'gone@example.com' })];
      const decision = decideWith(
        { ...facts, mailboxes, named },
        referral('o.l.d@example.com', { mailboxKey: 'old@example.com' }),
        referral('go.ne@example.com', { mailboxKey: 'gone@example.com' }),
        referral('new@example.com'),
        referral('ne.w@example.com', { mailboxKey: 'new@example.com' }),
        erase('x', 2),
      );

      expect(judged(decision)).toEqual([
        ['withheld', 'same_mailbox'],
        ['credited'],
        ['credited'],
        ['withheld', 'same_mailbox'],
      ]);
    });

    it('by the rates of its referrer and its network, those of the same batch included', () => {
      const fraud = { ...FRAUD_DEFAULTS, referrals_per_hour: 4, referrals_per_network_per_hour: 2 };
      const recent = new Map([
        ['T6', 1],
        ['T6/n', 1],
      ]);
      const referrals = ['n', 'n', null, null].map((network, index) => referral(`${index}@example.com`, { network }));
      const decision = decideWith({ ...facts, waitlist: { ...WAITLIST, fraud }, recent }, ...referrals);

      expect(judged(decision)).toEqual([
        ['credited'],
        ['withheld', 'network_rate'],
        ['credited'],
        ['withheld', 'referrer_rate'],
      ]);
      expect(decision.recentReferrals.map(({ token, network }) => [token, network])).toEqual([
        ['T6', 'n'],
        ['T6', 'n'],
        ['T6', null],
        ['T6', null],
      ]);
    });

    it('again when the owner decides, and refusing takes back exactly what was credited', () => {
      const named = [1, 2].map((number) =>
        record(number, { referredByToken: 'T6', credit: 'credited', verified: false }),
      );
      const decision = decideWith(
        { named, referrers: [record(6, { creditedReferrals: 2 })] },
        correct('a', 1, { credit: 'refused' }),
        correct('b', 2, { credit: 'refused' }),
        correct('c', 2, { credit: 'credited' }),
        correct('d', 2, { credit: 'credited' }),
      );

      expect(credits(decision)).toEqual([[6, 1, -2]]);
      expect(decision.corrections.map(({ id, columns }) => [id, columns.credit])).toEqual([
        [1, 'refused'],
        [2, 'credited'],
      ]);
    });
  });

  it('refuses a decision about the credit of a record that nobody referred', () => {
    const decision = decideWith(
      { named: [record(1, { credit: 'none' })] },
      correct('a', 1, { credit: 'refused', firstName: 'Eve' }),
    );

    expect(results(decision)).toMatchObject([
      { code: 'WAITLIST_RULE_BROKEN', fields: [{ field: 'credit', rule: 'known' }] },
    ]);
    expect(decision).toMatchObject({ corrections: [], written: [] });
  });

  it('numbers its events in the order in which it carries out its commands, and mails the people that it offboards', () => {
    const named = [3, 4].map((number) => record(number, { emailKey: `${number}@example.com` }));
    const facts = {
      waitlist: { ...WAITLIST, mailOnOffboarding: true, nextEvent: 7 } as LeanWaitlist,
      named,
      referrers: [record(6)],
      subscribers: SUBSCRIBERS,
    };
    const decision = decideWith(
      facts,
      join('a@example.com', { referrerTokens: ['T6'] }),
      erase('x', 4),
      offboard('y', 3),
    );
    const [newcomer] = decision.joined;

    expect(decision.signups).toEqual([{ number: 9, uuid: newcomer!.uuid, position: newcomer!.priority }]);
    expect(decision.events.map(({ number, event, uuid, referredUuid }) => [number, event, uuid, referredUuid])).toEqual(
      [
        [7, 'offboarded_signup', 'u3', null],
        [8, 'erased_signup', 'u4', null],
        [10, 'referral_credited', 'u6', newcomer!.uuid],
      ],
    );
    expect(decision.mails).toMatchObject([{ waiterUuid: 'u3', kind: 'your_turn', emailKey: '3@example.com' }]);
    expect(decision.waitlist.nextEvent).toBe(11);
  });
});
