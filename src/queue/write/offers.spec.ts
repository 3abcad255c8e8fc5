import { describe, expect, it } from '@jest/globals';
import {
  byOwner,
  correct,
  erase,
  JOINED,
  NO_FACTS,
  offboard,
  record,
  results,
  SUBSCRIBERS,
  uuidsOf,
  WAITLIST,
} from '../../../test/support/batch.js';
import type { Offer } from '../offers/offer.js';
import { LedgerChanges } from '../order/ledger-changes.js';
import { rankKey } from '../order/rank-key.js';
import type { Waiter } from '../record/waiter.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';
import type { Command } from './command.js';
import { answerOffer } from './commands/answer-offer.js';
import { leave } from './commands/leave.js';
import { makeOffers, type OfferRequest } from './commands/make-offers.js';
import { replaceOfferCode } from './commands/replace-offer-code.js';
import { returnWaiters } from './commands/return.js';
import { beginOffer, expireOffers } from './commands/time-offers.js';
import { decide, type Decided } from './decide.js';
import type { Facts } from './facts.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ago = (ms: number) => new Date(Date.now() - ms);
const inMs = (ms: number) => ago(-ms);
const inAbout = (ms: number) => ({ asymmetricMatch: (at: Date) => Math.abs(at.getTime() - Date.now() - ms) < 60_000 });

/** A record that is offered a seat, with the place that it had. */
function offered(number: number, place: number, fields: Partial<Waiter> = {}): Waiter {
  return record(number, { status: 'offered', priority: place, removedPriority: place, ...fields });
}

/** The open offer of a record, whose time ends in a day. */
function offer(number: number, fields: Partial<Offer> = {}): Offer {
  const end = inMs(DAY_MS);
  return {
    id: `o${number}`,
    waitlistId: 1,
    waiterUuid: `u${number}`,
    state: 'open',
    codeHash: `c${number}`,
    sealedCode: 'sealed',
    priority: 0,
    hours: 48,
    madeAt: ago(DAY_MS),
    renewedAt: null,
    expiresAt: end,
    dueAt: end,
    acceptedAt: null,
    endedAt: null,
    runId: null,
    ...fields,
  };
}

/** Its time is over. */
const over = { expiresAt: ago(HOUR_MS), dueAt: ago(HOUR_MS) };
const codes = Array.from({ length: 20 }, (_, index) => ({ codeHash: `new${index}`, sealedCode: 'sealed' }));
const offerTo = (id: string, selection: OfferRequest['selection'], rest: Partial<OfferRequest> = {}) =>
  makeOffers({ selection, codes, ...rest }, byOwner(id));
const back = (id: string, ...numbers: readonly number[]) => returnWaiters(uuidsOf(numbers), byOwner(id));
const accept = (code: string) => answerOffer(code, 'accepted', { requestId: 'r' });
const decline = (code: string) => answerOffer(code, 'declined', { requestId: 'r' });
const expire = (...numbers: readonly number[]) => expireOffers(uuidsOf(numbers));

/** Decides a batch of a waitlist that has ten people in the queue besides those who are offered a seat or gone. */
function decideWith(facts: Partial<Facts>, ...commands: readonly Command<unknown>[]): Decided<unknown> {
  const { named = [], waitlist = WAITLIST } = facts;
  const seats = named.filter(({ status, removedReason }) => status === 'offered' || removedReason === 'accepted');
  const totals = {
    offered: named.filter(({ status }) => status === 'offered').length,
    offboarded: named.filter(({ status }) => status === 'offboarded').length,
    seatsTaken: seats.length,
  };
  return decide({ ...NO_FACTS, subscribers: SUBSCRIBERS, ...facts, waitlist: { ...waitlist, ...totals } }, commands);
}

/** The offers as they are stored, by the numbers of their people. */
const stored = ({ newOffers, changedOffers }: Decided<unknown>) =>
  Object.fromEntries([...newOffers, ...changedOffers].map((one) => [one.waiterUuid, one]));
const stateOf = (decision: Decided<unknown>, number: number) =>
  [...decision.records.values()].find(({ uuid }) => uuid === `u${number}`);
const eventsOf = ({ events }: Decided<unknown>) => events.map(({ event, uuid }) => [event, uuid]);
const auditOf = ({ written }: Decided<unknown>) => written.map(({ action, uuids }) => [action, ...uuids]);
const mailsOf = ({ mails }: Decided<unknown>) => mails.map(({ kind, emailKey }) => [kind, emailKey]);
const daysOf = ({ ledger, at }: Decided<unknown>) => {
  const today = at.toISOString().slice(0, 10);
  return ledger.days.changed().map(({ day, ...counts }) => ({ ...(day === today ? {} : { day }), ...counts }));
};

describe('offers', () => {
  const end = { offers: { on_expiry: 'end' as const } };
  const out = { offers: { on_expiry: 'out' as const } };
  const withRule = (rule: typeof end | typeof out) => ({ ...WAITLIST, ...rule });

  it('keep the places that their people had, each without those who are offered a seat before', () => {
    const first = [0, 1, 2, 3].map((number) => record(number));
    const decision = decideWith(
      { first, named: [record(1), record(5), record(7)] },
      offerTo('x', { next: 1 }),
      offboard('y', 1),
      offerTo('z', { uuids: ['u7', 'u5', 'u7', 'u9', 'u1'] }, { hours: null }),
      offerTo('v', { next: 2 }, { hours: 5 }),
    );

    expect(results(decision)).toMatchObject([
      { uuids: ['u0'] },
      { uuids: ['u1'], active: 9 },
      { uuids: ['u7', 'u5'] },
      { uuids: ['u2', 'u3'] },
    ]);
    expect(decision.newOffers.map(({ waiterUuid, priority, hours }) => [waiterUuid, priority, hours])).toEqual([
      ['u0', 0, 48],
      ['u7', 5, null],
      ['u5', 3, null],
      ['u2', 0, 5],
      ['u3', 1, 5],
    ]);
    expect([5, 7, 2].map((number) => stateOf(decision, number))).toMatchObject([
      { status: 'offered', removedPriority: 3, removedAt: null, removedReason: null, offerExpiresAt: null },
      { status: 'offered', removedPriority: 5, offerExpiresAt: null },
      { status: 'offered', removedPriority: 0, offerExpiresAt: inAbout(5 * HOUR_MS) },
    ]);
    expect(decision.waitlist).toMatchObject({ active: 4, offboarded: 1, offered: 5, seatsTaken: 5, nextSeq: 10 });
  });

  it('are carried out in the order of kinds: offboard, offer, answer, return, erase, leave, correct', () => {
    const facts = {
      first: [0, 1].map((number) => record(number)),
      named: [record(0), record(1), offered(11, 4), offered(12, 6)],
      offers: [offer(11), offer(12)],
    };
    const decision = decideWith(
      facts,
      correct('c', 12, { spotsToAdvance: 3 }),
      leave('u1', () => true, 'r'),
      back('r', 0, 1, 11, 12),
      accept('c11'),
      decline('c12'),
      offerTo('x', { next: 1 }),
      offboard('y', 0),
    );

    expect(results(decision)).toMatchObject([
      { uuids: ['u12'] },
      { uuids: ['u1'] },
      { uuids: ['u0', 'u1', 'u11', 'u12'] },
      { uuid: 'u11', state: 'accepted' },
      { uuid: 'u12', state: 'declined' },
      { uuids: ['u1'] },
      { uuids: ['u0'] },
    ]);
    expect(stored(decision)).toMatchObject({
      u1: { state: 'withdrawn', sealedCode: null, dueAt: null, priority: 0 },
      u11: { state: 'withdrawn', acceptedAt: expect.any(Date), endedAt: expect.any(Date) },
      u12: { state: 'declined' },
    });
    expect(decision.waitlist).toMatchObject({ active: 11, offboarded: 0, offered: 0, seatsTaken: 0 });
    expect(eventsOf(decision)).toEqual([
      ['offboarded_signup', 'u0'],
      ['offered_signup', 'u1'],
      ['offboarded_signup', 'u11'],
      ['declined_offer', 'u12'],
      ['returned_signup', 'u0'],
      ['returned_signup', 'u1'],
      ['returned_signup', 'u11'],
      ['returned_signup', 'u12'],
      ['erased_signup', 'u1'],
    ]);
    expect(daysOf(decision).at(-1)).toMatchObject({ offered: 1, accepted: 1, declined: 1, expired: 0, erased: 1 });

    // The counters are as if only this had happened.
    const once = new LedgerChanges({ ...WAITLIST });
    once.add(record(11));
    once.add(record(12));
    once.counters.move(record(12).rankKey, record(12).rankKey - 3, false);
    once.erase(record(1), new Date());
    const sums = (changes: LedgerChanges) =>
      changes.counters.families().map(({ changes: slots, ...family }) => ({
        ...family,
        changes: [...slots].filter(([, amount]) => amount !== 0).sort(),
      }));
    const changed = (changes: LedgerChanges) => sums(changes).filter(({ changes: slots }) => slots.length > 0);
    expect(changed(decision.ledger)).toEqual(changed(once));
  });

  it.each([
    ['offers', offerTo('x', { next: 2 })],
    ['a return', back('x', 4)],
    ['another link', replaceOfferCode('u4', codes[0]!, byOwner('x'))],
  ])('recognize %s that an earlier attempt carried out', (_, command) => {
    const facts = { done: new Map([['x', ['u4']]]), first: [record(5)], named: [offered(4, 0)], offers: [offer(4)] };
    const decision = decideWith(facts, command);

    expect(results(decision)).toMatchObject([{ uuids: ['u4'] }]);
    expect(decision).toMatchObject({ written: [], statusChanges: [], newOffers: [], changedOffers: [], mails: [] });
  });

  it.each<[string, Command<unknown>, Partial<Offer>, unknown]>([
    ['an acceptance', accept('c4'), { state: 'accepted' }, { uuid: 'u4', state: 'accepted' }],
    ['a refusal', decline('c4'), { state: 'declined' }, { uuid: 'u4', state: 'declined' }],
    ['an expiry', expire(4), { state: 'expired' }, { uuids: [] }],
    ['the beginning of the time', beginOffer('u4', new Date()), {}, { uuids: ['u4'] }],
  ])('repeat nothing of %s that was committed without an answer', (_, command, fields, result) => {
    const decision = decideWith({ named: [record(4)], offers: [offer(4, fields)] }, command);

    expect(results(decision)).toMatchObject([result]);
    expect(decision).toMatchObject({ written: [], statusChanges: [], corrections: [], changedOffers: [], events: [] });
  });

  it.each<[string, Partial<Offer>, unknown]>([
    ['expired, whether or not the sweep has been there', over, { uuid: 'u4', state: 'expired' }],
    ['declined', { state: 'declined' }, { uuid: 'u4', state: 'declined' }],
    ['withdrawn', { state: 'withdrawn' }, { uuid: 'u4', state: 'withdrawn' }],
  ])('cannot be accepted when they are %s', (_, fields, result) => {
    const person = fields.state ? record(4) : offered(4, 2);
    const decision = decideWith({ named: [person], offers: [offer(4, fields)] }, accept('c4'), decline('c4'));

    expect(results(decision)).toMatchObject([result, result]);
    expect(decision.ledger.days.changed().filter(({ accepted, declined }) => accepted + declined > 0)).toEqual([]);
  });

  it('answer each code by its own offer, also when their person has another one now', () => {
    const old = offer(4, { id: 'old', codeHash: 'old', state: 'declined' });
    const decision = decideWith({ named: [offered(4, 2)], offers: [offer(4), old] }, decline('old'), accept('c4'));

    expect(results(decision)).toMatchObject([
      { uuid: 'u4', state: 'declined' },
      { uuid: 'u4', state: 'accepted' },
    ]);
    expect(decision.changedOffers.map(({ id }) => id)).toEqual(['o4']);
    expect(stateOf(decision, 4)).toMatchObject({ removedReason: 'accepted', removedPriority: 2 });
  });

  it('refuse codes that nobody has, and those of people who are erased', () => {
    const facts = { named: [offered(4, 2)], offers: [offer(4), offer(9)] };
    const decision = decideWith(facts, accept('unknown'), accept('c9'), erase('x', 4));
    // In a batch, answers come before erasures.
    const later = decideWith({ offers: [offer(4, { codeHash: null, state: 'withdrawn' })] }, accept('c4'));

    expect(results(decision)).toMatchObject([
      { code: 'OFFER_NOT_FOUND' },
      { code: 'OFFER_NOT_FOUND' },
      { uuids: ['u4'] },
    ]);
    expect(decision.waitlist).toMatchObject({ offered: 0, seatsTaken: 0 });
    expect(results(later)).toMatchObject([{ code: 'OFFER_NOT_FOUND' }]);
  });

  it('end once, whoever is first', () => {
    const facts = { named: [offered(4, 2)], offers: [offer(4)] };
    const decision = decideWith(facts, accept('c4'), decline('c4'), expire(4), accept('c4'));

    expect(results(decision)).toMatchObject([
      { uuid: 'u4', state: 'accepted' },
      { uuid: 'u4', state: 'accepted' },
      { uuids: [] },
      { uuid: 'u4', state: 'accepted' },
    ]);
    expect(auditOf(decision)).toEqual([['offer_accepted', 'u4']]);
    expect(eventsOf(decision)).toEqual([['offboarded_signup', 'u4']]);
    expect(decision.waitlist).toMatchObject({ offered: 0, offboarded: 1, seatsTaken: 1, active: 10 });
  });

  it('are accepted by the owner who lets their people in, among others, who leave the queue', () => {
    const waitlist = { ...WAITLIST, mailOnOffboarding: true } as LeanWaitlist;
    const facts = { waitlist, named: [record(3), offered(4, 2), offered(5, 0)], offers: [offer(4), offer(5, over)] };
    const decision = decideWith(facts, offboard('x', 4, 3, 5));

    expect(results(decision)).toMatchObject([{ uuids: ['u4', 'u3'], active: 9 }]);
    expect([3, 4, 5].map((number) => stateOf(decision, number))).toMatchObject([
      { removedReason: 'by_owner', removedPriority: 3 },
      { removedReason: 'accepted', removedPriority: 2 },
      { removedReason: 'expired', removedPriority: 0 },
    ]);
    expect(auditOf(decision)).toEqual([
      ['offers_expired', 'u5'],
      ['waiters_offboarded', 'u4', 'u3'],
    ]);
    expect(mailsOf(decision)).toEqual([
      ['your_turn', '4@example.com'],
      ['your_turn', '3@example.com'],
    ]);
  });

  describe('whose time is over', () => {
    it('put their people out at that moment, on its day', () => {
      const expiresAt = new Date('2026-03-01T12:00:00Z');
      const facts = { waitlist: withRule(out), named: [offered(4, 2)], offers: [offer(4, { expiresAt })] };
      const decision = decideWith(facts, expire(4));

      expect(stateOf(decision, 4)).toMatchObject({
        status: 'offboarded',
        removedAt: expiresAt,
        removedPriority: 2,
        removedReason: 'expired',
        offerExpiresAt: null,
      });
      expect(daysOf(decision)).toMatchObject([{ day: '2026-03-01', offboarded: 1, expired: 1 }]);
      expect(eventsOf(decision)).toEqual([['expired_offer', 'u4']]);
      expect(decision.waitlist).toMatchObject({ active: 10, offered: 0, offboarded: 1, seatsTaken: 0 });
    });

    it('let them wait again at the end, each behind the one before, with the spots that they have earned', () => {
      const rich = offered(5, 0, { creditedReferrals: 2 });
      const facts = {
        waitlist: withRule(end),
        named: [offered(4, 2), rich],
        offers: [offer(4, over), offer(5, over)],
      };
      const decision = decideWith(facts, expire(5, 4));

      expect([5, 4].map((number) => stateOf(decision, number))).toMatchObject([
        { status: 'waiting', seq: 10, joinedPriority: 10, removedPriority: null, offerExpiresAt: null },
        { status: 'waiting', seq: 11, joinedPriority: 11, removedReason: null },
      ]);
      expect(stateOf(decision, 5)?.rankKey).toBe(rankKey({ seq: 10, creditedReferrals: 2, spotsAdvanced: 0 }, 2));
      expect(stored(decision)).toMatchObject({ u4: { state: 'expired', sealedCode: null, dueAt: null } });
      expect(daysOf(decision).map(({ signups, offboarded, expired }) => [signups, offboarded, expired])).toEqual([
        [0, 0, 2],
      ]);
      expect(decision.waitlist).toMatchObject({ active: 12, offered: 0, offboarded: 0, nextSeq: 12 });
    });

    it.each([
      [1, 'waiting'],
      [2, 'offboarded'],
    ])('after %i others of the same person that expired, leave it %s', (before, status) => {
      const expired = Array.from({ length: before }, (_, index) => offer(4, { id: `old${index}`, state: 'expired' }));
      const others = [offer(4, { id: 'a', state: 'accepted' }), offer(5, { id: 'b', state: 'expired' })];
      const facts = {
        waitlist: withRule(end),
        named: [offered(4, 2)],
        offers: [...expired, ...others, offer(4, over)],
      };
      const decision = decideWith(facts, expire(4));

      expect(stateOf(decision, 4)).toMatchObject({ status });
    });

    it('cannot be ended otherwise before the sweep comes: not by a return, not by letting in', () => {
      const facts = (rule: typeof end | typeof out) => ({
        waitlist: withRule(rule),
        named: [offered(4, 2)],
        offers: [offer(4, over)],
      });
      const [returned, kept] = [decideWith(facts(out), back('x', 4)), decideWith(facts(end), back('x', 4))];

      expect([returned, kept].map((decision) => [results(decision), stored(decision).u4?.state])).toMatchObject([
        [[{ uuids: ['u4'] }], 'expired'],
        [[{ uuids: [] }], 'expired'],
      ]);
      expect([stateOf(returned, 4), stateOf(kept, 4)]).toMatchObject([
        { status: 'waiting', seq: 4 },
        { status: 'waiting', seq: 10 },
      ]);
      expect(eventsOf(returned)).toEqual([
        ['expired_offer', 'u4'],
        ['returned_signup', 'u4'],
      ]);
      expect(auditOf(kept)).toEqual([['offers_expired', 'u4'], ['waiters_returned']]);
    });

    it('do not give a place twice in a batch: who comes back to the end is not selected in it', () => {
      const facts = {
        waitlist: withRule(end),
        named: [offered(4, 2), record(7)],
        offers: [offer(4, over)],
      };
      const decision = decideWith(
        facts,
        offboard('x', 4),
        offboard('y', 4, 7),
        offerTo('z', { uuids: ['u4'] }),
        expire(4),
        back('w', 4),
      );

      expect(results(decision)).toMatchObject([
        { uuids: [] },
        { uuids: ['u7'] },
        { uuids: [] },
        { uuids: [] },
        { uuids: [] },
      ]);
      expect(stateOf(decision, 4)).toMatchObject({ status: 'waiting', seq: 10, joinedPriority: 10 });
      expect(stateOf(decision, 7)).toMatchObject({ removedPriority: 7 });
      expect(auditOf(decision)).toContainEqual(['offers_expired', 'u4']);
    });
  });

  describe('with mail', () => {
    const mailed = { sendsMails: true };
    const awaiting = { expiresAt: null, madeAt: ago(HOUR_MS), dueAt: inMs(DAY_MS - HOUR_MS) };

    it('wait for their mail, but not for people without email, and not without end', () => {
      const named = [record(1), record(2, { emailKey: null }), record(3)];
      const decision = decideWith(
        { ...mailed, named },
        offerTo('x', { uuids: ['u1', 'u2'] }),
        offerTo('y', { uuids: ['u3'] }, { hours: null }),
      );

      expect(stored(decision)).toMatchObject({
        u1: { hours: 48, expiresAt: null, dueAt: inAbout(DAY_MS) },
        u2: { hours: 48, expiresAt: inAbout(2 * DAY_MS), dueAt: inAbout(2 * DAY_MS) },
        u3: { hours: null, expiresAt: null, dueAt: null },
      });
      expect(mailsOf(decision)).toEqual([
        ['offer', '1@example.com'],
        ['offer', '3@example.com'],
      ]);
    });

    it('begin when it was handed over, once, and recall themselves when a third of the time is left', () => {
      const facts = { ...mailed, named: [offered(4, 2)], offers: [offer(4, awaiting)] };
      const handedOver = ago(60_000);
      const decision = decideWith(facts, beginOffer('u4', handedOver), beginOffer('u4', new Date()), expire(4));
      const expiresAt = new Date(handedOver.getTime() + 48 * HOUR_MS);

      expect(stored(decision)).toMatchObject({ u4: { state: 'open', expiresAt, dueAt: expiresAt } });
      expect(stateOf(decision, 4)).toMatchObject({ status: 'offered', offerExpiresAt: expiresAt, removedPriority: 2 });
      expect(decision.mails).toMatchObject([
        { kind: 'offer_reminder', at: new Date(handedOver.getTime() + 32 * HOUR_MS) },
      ]);
    });

    it.each([
      ['the sweep', expire(4)],
      ['a mail that went out later', beginOffer('u4', new Date())],
    ])('begin a day after they were made at the latest, by %s', (_, command) => {
      const dueAt = ago(10 * HOUR_MS);
      const facts = { ...mailed, named: [offered(4, 2)], offers: [offer(4, { expiresAt: null, dueAt })] };
      const decision = decideWith(facts, command);

      expect(stored(decision).u4?.expiresAt).toEqual(new Date(dueAt.getTime() + 48 * HOUR_MS));
    });

    it('go to a corrected email with another code, and run anew, but not twice in a day', () => {
      const named = [offered(4, 2), offered(5, 3), offered(6, 4)];
      const facts = {
        ...mailed,
        named,
        offers: [offer(4), offer(5, { renewedAt: ago(HOUR_MS) }), offer(6, { renewedAt: ago(DAY_MS) })],
      };
      const decision = decideWith(
        facts,
        correct('a', 4, { email: 'new4@example.com', verified: true }),
        correct('b', 5, { email: 'new5@example.com', verified: true }),
        correct('c', 6, { email: 'new6@example.com', verified: true }),
      );

      expect(stored(decision)).toMatchObject({
        u4: {
          codeHash: 'a-code',
          sealedCode: 'another',
          renewedAt: decision.at,
          expiresAt: null,
          dueAt: inAbout(DAY_MS),
        },
        u5: { codeHash: 'b-code', expiresAt: facts.offers[1]!.expiresAt, renewedAt: facts.offers[1]!.renewedAt },
        u6: { codeHash: 'c-code', renewedAt: decision.at, expiresAt: null },
      });
      expect([4, 5, 6].map((number) => stateOf(decision, number)?.offerExpiresAt)).toEqual([
        null,
        facts.offers[1]!.expiresAt,
        null,
      ]);
      // The reminder to the old email is dropped.
      expect(mailsOf(decision)).toEqual([
        ['offer', 'new4@example.com'],
        ['offer', 'new5@example.com'],
        ['offer_reminder', 'new5@example.com'],
        ['offer', 'new6@example.com'],
      ]);
      expect(decision.changedEmails).toEqual(['u4', 'u5', 'u6']);
    });

    it('are not revived by a corrected email when their time is over', () => {
      const facts = { ...mailed, named: [offered(4, 2)], offers: [offer(4, over)] };
      const decision = decideWith(facts, correct('a', 4, { email: 'new@example.com', verified: true }));

      expect(decision).toMatchObject({ changedOffers: [], mails: [] });
      expect(stateOf(decision, 4)).toMatchObject({ emailKey: 'new@example.com' });
    });
  });

  describe('of a run', () => {
    const withSeats = (seats: number | null) => ({ ...WAITLIST, releasePlan: { seats } }) as LeanWaitlist;

    it('go to nobody once its plan is taken away', () => {
      const facts = { waitlist: { ...WAITLIST, releasePlan: null }, first: [record(0)] };

      expect(results(decideWith(facts, offerTo('x', { next: 1 }, { run: { id: 'run' } })))).toMatchObject([
        { uuids: [] },
      ]);
    });

    it.each([
      [5, ['u0', 'u1']],
      [3, ['u0']],
      [2, []],
      [0, []],
    ])('with %i seats, of which 2 are taken, go to nobody beyond them', (seats, uuids) => {
      const named = [
        offered(11, 0),
        record(12, { status: 'offboarded', removedReason: 'accepted', removedAt: JOINED }),
      ];
      const decision = decideWith(
        { waitlist: withSeats(seats), first: [record(0), record(1)], named },
        offerTo('x', { next: 2 }, { run: { id: 'run' } }),
      );

      expect(results(decision)).toMatchObject([{ uuids }]);
      expect(decision.newOffers.map(({ runId }) => runId)).toEqual(uuids.map(() => 'run'));
    });

    it('may take the seats that are given up in the same batch only in the next one', () => {
      const waitlist = withSeats(1);
      const facts = { waitlist, first: [record(0)], named: [offered(11, 0)], offers: [offer(11)] };
      const decision = decideWith(facts, decline('c11'), offerTo('x', { next: 1 }, { run: { id: 'run' } }));

      expect(results(decision)).toMatchObject([{ state: 'declined' }, { uuids: [] }]);
    });
  });

  it('get another code, which ends the old one', () => {
    const facts = { sendsMails: true, named: [offered(4, 2), record(5)], offers: [offer(4)] };
    const byPerson = decideWith(facts, replaceOfferCode('u4', codes[0]!, { requestId: 'r', network: null }));
    const byAccount = decideWith(
      facts,
      replaceOfferCode('u4', codes[1]!, byOwner('x')),
      replaceOfferCode('u5', codes[2]!, byOwner('y')),
      replaceOfferCode('u6', codes[3]!, byOwner('z')),
      accept('c4'),
    );
    const late = decideWith({ ...facts, offers: [offer(4, over)] }, replaceOfferCode('u4', codes[0]!, byOwner('x')));

    expect(stored(byPerson)).toMatchObject({ u4: { codeHash: 'new0', expiresAt: facts.offers[0]!.expiresAt } });
    expect([mailsOf(byPerson), mailsOf(byAccount)]).toEqual([[['offer', '4@example.com']], []]);
    expect(results(byAccount)).toMatchObject([
      { uuids: ['u4'] },
      { code: 'OFFER_ENDED' },
      { code: 'NO_WAITER_FOUND' },
      { code: 'OFFER_NOT_FOUND' },
    ]);
    expect(results(late)).toMatchObject([{ code: 'OFFER_ENDED' }]);
  });

  describe('and the way back', () => {
    it('leave out those who wait, who are pending and who are unknown', () => {
      const named = [record(1), record(2, { status: 'pending' }), offered(3, 0)];
      const decision = decideWith({ named, offers: [offer(3)] }, back('x', 1, 2, 9, 3, 3));

      expect(results(decision)).toMatchObject([{ uuids: ['u3'] }]);
      expect(auditOf(decision)).toEqual([['waiters_returned', 'u3']]);
    });

    it('give the place of the facts, and take back no number of a day but that of removals', () => {
      const gone = { status: 'offboarded', removedPriority: 0, removedAt: new Date('2026-02-01') } as const;
      const named = [
        record(3, { ...gone, removedReason: 'by_owner' }),
        record(4, { ...gone, removedReason: 'accepted', creditedReferrals: 1 }),
        record(5, { ...gone, removedReason: 'expired', referred: true }),
      ];
      const accepted = offer(4, { state: 'accepted', acceptedAt: JOINED, endedAt: JOINED });
      const facts = { named, offers: [accepted, offer(5, { state: 'expired' })] };
      const decision = decideWith(facts, back('x', 5, 4, 3));

      expect([3, 4, 5].map((number) => stateOf(decision, number))).toMatchObject([
        { status: 'waiting', seq: 3, rankKey: named[0]!.rankKey, removedReason: null, removedAt: null },
        { status: 'waiting', seq: 4, rankKey: named[1]!.rankKey, removedPriority: null },
        { status: 'waiting', seq: 5, rankKey: named[2]!.rankKey },
      ]);
      expect(decision.changedOffers).toEqual([{ ...accepted, state: 'withdrawn', sealedCode: null, dueAt: null }]);
      expect(daysOf(decision)).toMatchObject([
        { day: '2026-02-01', offboarded: -3, accepted: 0, expired: 0, declined: 0 },
      ]);
      expect(decision.waitlist).toMatchObject({ active: 13, offboarded: 0, seatsTaken: 0 });
    });
  });
});
