import { Inject, Injectable } from '@nestjs/common';
import { DeliveryStore } from '../../outbox/delivery.store.js';
import { MailStore } from '../../outbox/mail.store.js';
import { VerificationLinkStore } from '../../outbox/verification-link.store.js';
import { AuditLog } from '../../platform/audit/audit-log.js';
import { type Config, CONFIG } from '../../platform/config/config.js';
import type { Query, Session } from '../../platform/database/session.js';
import { OfferStore } from '../offers/offer.store.js';
import { CrowdedPositions } from '../read/crowded-positions.js';
import { needsClick } from '../record/needs-click.js';
import { LARGE, type StoredWaiter } from '../record/waiter.js';
import { type MailboxHolder, WaiterStore } from '../record/waiter.store.js';
import { QueueStore } from '../settings/queue.store.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';
import type { Needs, ReferralFacts } from './command.js';
import type { Facts } from './facts.js';
import { RecentReferralStore, type RecentReferrals, type ReferralSource, sourceKey } from './recent-referral.store.js';

/** Reads the facts that the commands of a batch need, each kind of fact by one statement. */
@Injectable()
export class FactsReader {
  constructor(
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly positions: CrowdedPositions,
    private readonly recent: RecentReferralStore,
    private readonly deliveries: DeliveryStore,
    private readonly links: VerificationLinkStore,
    private readonly mails: MailStore,
    private readonly offers: OfferStore,
    private readonly audit: AuditLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Takes the lock and reads, in one round trip; in two where credit or a further mail is at stake.
   * @throws Problem `WAITLIST_NOT_FOUND`
   */
  async read(session: Session, waitlistId: number, needs: readonly Needs[]): Promise<Facts> {
    const ids = needs.flatMap((need) => need.ids ?? []);
    const uuids = needs.flatMap((need) => need.uuids ?? []);
    const links = needs.flatMap(({ link }) => link ?? []);
    const codes = needs.flatMap(({ offerCode }) => offerCode ?? []);
    const referrals = needs.flatMap(({ referral }) => referral ?? []);
    const tokens = referrals.flatMap((referral) => referral.tokens);
    const writeIds = needs.flatMap(({ write }) => write?.id ?? []);
    const contacts = needs.flatMap(({ contact }) => contact ?? []);
    const first = needs.reduce((sum, need) => sum + (need.first ?? 0), 0);
    const [waitlist, byId, byUuid, leading, done, taken, joining, subscribers, usedLinks, byLink, coded, byCode] =
      await session.all([
        this.queues.lock(waitlistId),
        this.waiters.findByIds(waitlistId, [...new Set(ids)]),
        this.waiters.findByUuids(waitlistId, [...new Set(uuids)], LARGE),
        // Other commands of the batch can remove some of the first records by their ids or uuids.
        this.waiters.findFirst(waitlistId, first === 0 ? 0 : first + ids.length + uuids.length),
        this.audit.findDone(writeIds),
        this.waiters.findTaken(waitlistId, contacts),
        this.waiters.findReferrers(waitlistId, [...new Set(tokens)]),
        this.deliveries.findSubscribers(waitlistId),
        this.links.find(waitlistId, links),
        this.waiters.findByLinks(waitlistId, links),
        this.offers.findByHashes(waitlistId, codes),
        this.waiters.findByOfferCodes(waitlistId, codes),
      ]);
    const credited = new Set(needs.flatMap((need) => (need.canChangeCredit && need.uuids) || []));
    const referred = [...byLink, ...byUuid.filter(({ uuid }) => credited.has(uuid))];
    // A repeated signup of an unverified person may send another verification mail.
    const unverified = taken.flatMap(({ uuid: waiterUuid, emailKey, ...record }) =>
      emailKey !== null && needsClick(waitlist, record) ? [{ waiterUuid, emailKey }] : [],
    );
    const networks = referrals.flatMap(({ network }) => network ?? []);
    const offerees = [...byId, ...byUuid, ...byCode].filter(hasOffer);
    const [earning, offered, mailed, recent, mailboxes] = await session.all([
      this.waiters.findReferrers(waitlistId, [...new Set(referred.flatMap((record) => record.referredByToken ?? []))]),
      this.offers.findOf(waitlistId, [...new Set(offerees.map(({ uuid }) => uuid))]),
      this.mails.findMailed(waitlistId, unverified, [...new Set(networks)], new Date()),
      ...this.findSuspicions(waitlist, referrals, joining),
    ]);
    return {
      waitlist,
      named: await this.positions.complete(session, waitlistId, [...byId, ...byUuid, ...byLink, ...byCode]),
      first: leading,
      done,
      taken,
      referrers: [...joining, ...earning],
      links: usedLinks,
      offers: [...coded, ...offered],
      sendsMails: this.config.mail !== null,
      mailboxes,
      recent,
      mailed,
      subscribers,
    };
  }

  /** For the new records with a known referrer: the latest referrals, and the records that have the same mailbox. */
  private findSuspicions(
    { id, fraud }: LeanWaitlist,
    referrals: readonly ReferralFacts[],
    referrers: readonly StoredWaiter[],
  ): [Query<RecentReferrals>, Query<MailboxHolder[]>] {
    const known = new Set(referrers.map(({ referralToken }) => referralToken));
    const sources = new Map<string, ReferralSource>();
    const mailboxes = new Set<string>();
    const add = (source: ReferralSource) => sources.set(sourceKey(source.token, source.network), source);
    for (const { tokens, network, mailbox } of referrals) {
      const token = tokens.find((candidate) => known.has(candidate));
      if (token === undefined) continue;
      const { referrals_per_hour: max, referrals_per_network_per_hour: networkMax } = fraud;
      if (max !== null) add({ token, network: null, max });
      if (networkMax !== null && network !== null) add({ token, network, max: networkMax });
      if (fraud.same_mailbox && mailbox !== null) mailboxes.add(mailbox);
    }
    return [this.recent.count(id, [...sources.values()]), this.waiters.findMailboxes(id, [...mailboxes])];
  }
}

/** Whether the record has an open or accepted offer. Expired ones are read too: they decide how the next one ends. */
function hasOffer({ status, removedReason }: StoredWaiter): boolean {
  return status === 'offered' || removedReason === 'accepted';
}
