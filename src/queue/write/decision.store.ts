import { Injectable } from '@nestjs/common';
import { DeliveryStore, type NewEvent, type Subscriber, webhookIdsFor } from '../../outbox/delivery.store.js';
import { CLICK_MAILS, MailStore, OFFER_MAILS } from '../../outbox/mail.store.js';
import type { SignupEventEntity } from '../../outbox/signup-event.entity.js';
import { SignupEventStore } from '../../outbox/signup-event.store.js';
import { VerificationLinkStore } from '../../outbox/verification-link.store.js';
import { WelcomeMailStore } from '../../outbox/welcome-mail.store.js';
import { together, type Transaction } from '../../platform/database/session.js';
import { AccountWriteService } from '../../platform/idempotency/account-write.service.js';
import { OfferStore } from '../offers/offer.store.js';
import { Ledger } from '../order/ledger.js';
import { CrowdedPositions } from '../read/crowded-positions.js';
import { eventBody } from '../record/event-body.js';
import { signupPage } from '../record/referral-link.js';
import { SignupDeliveries } from '../record/signup-deliveries.js';
import type { Waiter } from '../record/waiter.js';
import { WaiterStore } from '../record/waiter.store.js';
import type { Facts } from './facts.js';
import { RecentReferralStore } from './recent-referral.store.js';
import type { Decision } from './state.js';

/** Stores the decision about a batch. */
@Injectable()
export class DecisionStore {
  constructor(
    private readonly ledger: Ledger,
    private readonly waiters: WaiterStore,
    private readonly positions: CrowdedPositions,
    private readonly recent: RecentReferralStore,
    private readonly deliveries: DeliveryStore,
    private readonly signupEvents: SignupEventStore,
    private readonly signupDeliveries: SignupDeliveries,
    private readonly mails: MailStore,
    private readonly welcomes: WelcomeMailStore,
    private readonly links: VerificationLinkStore,
    private readonly offers: OfferStore,
    private readonly writes: AccountWriteService,
  ) {}

  /** Stores a decision and commits. Writes nothing, and so waits for no disk, if nothing changes. */
  async store(session: Transaction, facts: Facts, decision: Decision): Promise<void> {
    const {
      at,
      waitlist,
      written,
      statusChanges,
      newOffers,
      changedOffers,
      erased,
      corrections,
      joined,
      changedReferrers,
      ledger,
    } = decision;
    const { subscribers } = facts;
    const { usedLinks, changedEmails, recentReferrals, mails, welcomes, events } = decision;
    if (written.length + joined.length + usedLinks.length + mails.length + changedOffers.length === 0) return;
    const { id } = waitlist;
    // All records that commands name, because changes of status and corrections hold ids, and signup events are found
    // by uuid.
    const mayChange = [...facts.named, ...facts.first, ...changedReferrers].map(({ uuid }) => uuid);
    const [siblings, signupEvents] = await session.all([
      this.ledger.read(ledger),
      this.signupEvents.lockByUuids(id, [...new Set(mayChange)]),
    ]);
    // Reads the records before they change.
    const signupDeliveries = await this.signupDeliveries.make(session, id, signupEvents);
    const gone = erased.map(({ uuid }) => uuid);
    const ended = changedOffers.flatMap(({ state, waiterUuid }) => (state === 'open' ? [] : [waiterUuid]));
    const changes = [
      // Before `scrub`, which empties the payloads of erased people.
      signupDeliveries,
      ...statusChanges.map((change) => this.waiters.changeStatus(id, change)),
      this.offers.insert(newOffers),
      this.offers.update(changedOffers),
      this.offers.forget(id, gone, at),
      this.waiters.erase(erased, at),
      this.waiters.correct(id, corrections),
      ...written.map(({ write, ...record }) => this.writes.record(write, { waitlistId: id, ...record })),
      this.waiters.insert(joined),
      this.waiters.updateStandings(id, changedReferrers),
      this.recent.insert(id, recentReferrals),
      ...usedLinks.map((link) => this.links.use(link, at)),
      this.deliveries.scrub(id, gone),
      this.mails.drop(id, gone),
      this.mails.drop(id, changedEmails, [...CLICK_MAILS, 'leave', ...OFFER_MAILS]),
      // Otherwise, they would go out with the person's next offer.
      this.mails.drop(id, ended, OFFER_MAILS),
      this.links.deleteOf(id, [...changedEmails, ...gone]),
      this.mails.insert(id, mails),
      this.welcomes.insert(welcomes),
      this.signupEvents.insert(signupEventsOf(decision, subscribers)),
      this.ledger.save(ledger, siblings),
    ];
    const shown = events.filter(({ event }) => event !== 'erased_signup');
    if (shown.length === 0) {
      await session.commit([...changes, this.deliveries.insert(id, eventsOf(decision, subscribers, []))]);
      return;
    }
    // An event shows its record after the changes.
    const uuids = [...new Set(shown.map(({ uuid }) => uuid))];
    const [, waiters] = await session.all([together(changes), this.waiters.findByUuids(id, uuids)]);
    const positioned = await this.positions.complete(session, id, waiters);
    await session.commit([this.deliveries.insert(id, eventsOf(decision, subscribers, positioned))]);
  }
}

/** The events of new records, of which {@link SignupDeliveries} makes the deliveries. */
function signupEventsOf({ at, waitlist, signups }: Decision, subscribers: readonly Subscriber[]): SignupEventEntity[] {
  const webhookIds = webhookIdsFor(subscribers, 'new_signup');
  if (webhookIds.length === 0) return [];
  const common = {
    waitlistId: waitlist.id,
    signupPage: signupPage(waitlist),
    questions: JSON.stringify(waitlist.questions.map(({ id, text, optional }) => ({ id, text, optional }))),
    webhookIds,
    createdAt: at,
  };
  return signups.map(({ uuid, number, position }) => Object.assign({ waiterUuid: uuid, number, position }, common));
}

/** The other events with their bodies. If a record was erased since then, only its `erased_signup` is sent. */
function eventsOf(
  { at, waitlist, events }: Decision,
  subscribers: readonly Subscriber[],
  waiters: readonly Waiter[],
): NewEvent[] {
  const byUuid = new Map(waiters.map((waiter) => [waiter.uuid, waiter]));
  return events.flatMap(({ number, event, uuid, referredUuid }) => {
    const waiter = byUuid.get(uuid) ?? null;
    if (waiter === null && event !== 'erased_signup') return [];
    const body = eventBody({ event, uuid, waiter, referredUuid }, waitlist);
    return [{ number, event, waiterUuid: uuid, body, at, webhookIds: webhookIdsFor(subscribers, event) }];
  });
}
