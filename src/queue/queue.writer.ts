import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { foldedMailbox, mailboxOf } from '../fraud/mailbox.js';
import { DeliveryStore, type NewEvent, type Subscriber, webhookIdsFor } from '../outbox/delivery.store.js';
import { MailStore } from '../outbox/mail.store.js';
import { OutboxSignal } from '../outbox/outbox.signal.js';
import type { SignupEventEntity } from '../outbox/signup-event.entity.js';
import { SignupEventStore } from '../outbox/signup-event.store.js';
import { VerificationLinkStore } from '../outbox/verification-link.store.js';
import { AuditLog } from '../platform/audit/audit-log.js';
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import { OwnerWrites } from '../platform/idempotency/owner-writes.js';
import { Batcher, type Outcome } from '../platform/limits/batcher.js';
import { boundedQueue } from '../platform/limits/bounded-queue.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { Database } from '../platform/database/database.js';
import { WriteAheadLog } from '../platform/database/write-ahead-log.js';
import { type Query, type Session, together, type Transaction } from '../platform/database/session.js';
import { isUnavailable, Problem } from '../platform/problems/problem.js';
import { contactKeys } from './admission/contact.js';
import { decide } from './batch/batch.js';
import type { Changed, Command, Decision, Duplicate, Facts, Offboarded, Result, Selection } from './batch/facts.js';
import { BucketStore } from './bucket.store.js';
import { CounterChanges, firstKeyOf, QUEUE_AXIS } from './counters.js';
import { DayStore } from './day.store.js';
import { eventBody } from './event-body.js';
import { QueueMetrics } from './queue.metrics.js';
import { QueueReader } from './queue.reader.js';
import { QueueStore } from './queue.store.js';
import { rankKey } from './rank-key.js';
import { RecentReferralStore, type RecentReferrals, type ReferralSource, sourceKey } from './recent-referral.store.js';
import { signupPage } from './referral-link.js';
import { SignupDeliveries } from './signup-deliveries.js';
import { type SettingChanges, withSettings } from './settings.js';
import {
  type Applicant,
  type ContactKeys,
  type Credit,
  type Found,
  LARGE,
  type PersonChanges,
  type StoredWaiter,
  type Waiter,
} from './waiter.js';
import { type MailboxHolder, WaiterStore } from './waiter.store.js';
import type { LeanWaitlist, WholeWaitlist } from './waitlist.table.js';

/** Records changed in one transaction: more would hold the lock, and each caller, for longer than a commit takes. */
export const BATCH_MAX = 500;
/**
 * Text of this size weighs as much as a record: the longest statement then stays near 8 MiB, half of MariaDB's packet. The
 * payloads of events are split into short statements.
 */
const WEIGHTY_TEXT_BYTES = 8 * 1024;
/** Weight of the commands of one waitlist that may wait: some seconds of work, within a client's patience. */
const WAITING_MAX = 10_000;
/** Reorderings that may wait for the one that runs. Each takes seconds at a hundred thousand referrers. */
const REORDERINGS_WAITING_MAX = 64;
/** For an offboarding of more records than a batch has: its events can have 32 MB of payloads, and 20,000 deliveries. */
const OFFBOARDING_MAX_MS = 20_000;
/** A reordering can move millions of records. */
const REORDERING_MAX_MS = 10 * 60_000;
/** One referrer can have hundreds of thousands of referrals. */
const REFUSAL_MAX_MS = 60_000;
/** With several writing nodes of a cluster, another may insert the same email; the next attempt finds its record. */
const DUPLICATE_ATTEMPTS_MAX = 3;

interface Configure {
  readonly kind: 'configure';
  readonly changes: SettingChanges;
  readonly write: OwnerWrite;
}

/** Refuses the credit of all referrals by one referrer. */
interface Refuse {
  readonly kind: 'refuse';
  readonly token: string;
  readonly write: OwnerWrite;
}

/** How many records the refusal changed. */
export interface Refused {
  readonly refused: number;
}

/** Commands that run alone. */
type Lone = Configure | Refuse;

/** The changed waitlist, and how many active records got another rank key. */
export interface Configured {
  readonly waitlist: WholeWaitlist;
  readonly recordsMoved: number;
}

/**
 * The one entry point through which a queue changes. Changes of one waitlist contend for its sequence and its order, so the
 * lock on its row serializes them. The lock and the commit cost the same for one command as for many, so the commands that
 * arrive during one transaction share the next.
 *
 * A batch is one transaction: lock the row and read the facts, decide (batch.ts), store the decision and commit. That is
 * two round trips for signups without referrers; changes of existing records take up to four more. Each caller is answered
 * after the commit. All commands are safe to repeat: a join finds its own record by its contact data; an owner's command
 * recognizes its own work by its audit event, which has the command's id.
 */
@Injectable()
export class QueueWriter implements BeforeApplicationShutdown {
  private readonly batchers = new Map<number, Batcher<Command | Lone, Result | Configured | Refused>>();
  /** Reorderings wait here, before they take a connection that other work needs. */
  private readonly reorderInTurn = boundedQueue('reorder', { runsMax: 1, waitingMax: REORDERINGS_WAITING_MAX });
  private isClosed = false;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
    private readonly days: DayStore,
    private readonly recent: RecentReferralStore,
    private readonly deliveries: DeliveryStore,
    private readonly signupEvents: SignupEventStore,
    private readonly signupDeliveries: SignupDeliveries,
    private readonly mails: MailStore,
    private readonly links: VerificationLinkStore,
    private readonly signal: OutboxSignal,
    private readonly reader: QueueReader,
    private readonly audit: AuditLog,
    private readonly writes: OwnerWrites,
    private readonly metrics: QueueMetrics,
    private readonly writeAheadLog: WriteAheadLog,
  ) {
    metrics.countWaiting = () => this.waiting;
  }

  /** Commands that wait for a transaction, over all waitlists. */
  get waiting(): number {
    return [...this.batchers.values()].reduce((sum, batcher) => sum + batcher.length, 0);
  }

  /**
   * Puts an applicant at the end of the queue and moves the referrer forward. If a record with this email or phone exists,
   * returns it unchanged. If they match two records, the email decides.
   * @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED`, `WAITLIST_NOT_FOUND`, `QUEUE_FULL`,
   * `SHUTTING_DOWN`
   */
  async join(waitlistId: number, applicant: Applicant): Promise<Found> {
    const keys = contactKeys(applicant, applicant.region);
    const joined = (await this.submit(waitlistId, { kind: 'join', applicant, keys })) as Found | Duplicate;
    if ('waiter' in joined) return joined;
    const { waiter, waitlist } = await this.reader.find(waitlistId, joined.keys);
    // If there is none, the record was erased or got other contact data meanwhile.
    return waiter ? { waiter, waitlist, ...joined } : this.join(waitlistId, applicant);
  }

  /**
   * Offboards the active records of a selection, all or none. Returns those that this call removed, in the order of the
   * selection.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async offboard(waitlistId: number, selection: Selection, write: OwnerWrite): Promise<Offboarded> {
    return (await this.submit(waitlistId, { kind: 'offboard', selection, write })) as Offboarded;
  }

  /**
   * Marks the email of a link as verified: a pending record joins the end of the queue, and a credit that waited for this
   * counts. Returns the uuid of the record, for a second click too.
   * @throws Problem `LINK_NOT_FOUND`, also for an old link and one to an email that the record had before,
   * `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async verify(waitlistId: number, tokenHash: string): Promise<Changed> {
    return (await this.submit(waitlistId, { kind: 'verify', tokenHash })) as Changed;
  }

  /**
   * Corrects a record, whatever its status, moves it forward or back by spots, and decides its credit. An offboarded record
   * keeps its last position. Returns the uuid; the caller reads the changed record.
   * @throws Problem `NO_WAITER_FOUND`, `CONTACT_TAKEN` for an email or a phone of another record, `INVALID_REQUEST` for
   * contact data without a normal form, `WAITLIST_RULE_BROKEN` if neither email nor phone would be left, or for the credit
   * of a record that nobody referred, `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async correct(waitlistId: number, uuid: string, changes: PersonChanges, write: OwnerWrite): Promise<Changed> {
    const { email = null, phone = null } = changes;
    const region = await this.reader.regionFor(waitlistId, phone);
    const keys = contactKeys({ email, phone }, region);
    const mailboxKey = foldedMailbox(keys.emailKey);
    return (await this.submit(waitlistId, {
      kind: 'correct',
      uuid,
      changes,
      region,
      keys,
      mailboxKey,
      write,
    })) as Changed;
  }

  /**
   * Refuses the credit of all referrals by the record that has this token, whatever their status, those of erased people
   * too: the referrer keeps what an import brought. Later referrals are judged as any other.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async refuseReferrals(waitlistId: number, token: string, write: OwnerWrite): Promise<Refused> {
    return (await this.submit(waitlistId, { kind: 'refuse', token, write })) as Refused;
  }

  /**
   * Deletes records, whatever their status, all or none, and leaves tombstones without personal data. The queue closes up;
   * referrals keep counting for others. Returns the uuids of the records that this call erased, in the given order;
   * unknown ones are left out.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async erase(waitlistId: number, uuids: readonly string[], write: OwnerWrite): Promise<Changed> {
    return (await this.submit(waitlistId, { kind: 'erase', uuids, write })) as Changed;
  }

  /**
   * Changes settings, after the signups and offboardings that came before. If the spots per referral change, reorders the
   * queue, past referrals too.
   * @throws Problem `WAITLIST_NOT_FOUND`, `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async configure(waitlistId: number, changes: SettingChanges, write: OwnerWrite): Promise<Configured> {
    const submit = async () => (await this.submit(waitlistId, { kind: 'configure', changes, write })) as Configured;
    return changes.spotsPerReferral === undefined ? submit() : this.reorderInTurn(submit);
  }

  /** Takes no more commands, and resolves when all accepted ones have been answered. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    await Promise.all(Array.from(this.batchers.values(), (batcher) => batcher.drained()));
  }

  private async submit(waitlistId: number, command: Command | Lone): Promise<Result | Configured | Refused> {
    if (this.isClosed) throw new Problem('SHUTTING_DOWN');
    let batcher = this.batchers.get(waitlistId);
    if (!batcher) {
      batcher = new Batcher((commands) => this.run(waitlistId, commands), {
        name: 'write queue',
        batchMax: BATCH_MAX,
        weightOf,
        waitingMax: WAITING_MAX,
        runsMax: 1,
        onIdle: () => this.batchers.delete(waitlistId),
      });
      this.batchers.set(waitlistId, batcher);
    }
    try {
      return await batcher.submit(command);
    } catch (error) {
      if (error instanceof Problem && error.code === 'QUEUE_FULL') this.metrics.refusals.inc();
      throw error;
    }
  }

  private async run(
    waitlistId: number,
    commands: readonly (Command | Lone)[],
  ): Promise<readonly Outcome<Result | Configured | Refused>[]> {
    const [first] = commands;
    // Their weight exceeds that of a full batch, so they are alone.
    if (first?.kind === 'refuse') return [{ result: await this.refuse(waitlistId, first) }];
    if (first?.kind === 'configure') return [{ result: await this.change(waitlistId, first) }];
    return this.carryOut(waitlistId, commands as readonly Command[]);
  }

  private async change(waitlistId: number, { changes, write }: Configure): Promise<Configured> {
    let recordsMoved = 0;
    const waitlist = await this.database.pipelinedTransaction(
      async (session) => {
        const [current, done] = await session.all([this.queues.lockWhole(waitlistId), this.audit.findDone([write.id])]);
        // A retry after a lost answer to the commit.
        if (done.has(write.id)) return current;
        const next = withSettings(current, changes);
        recordsMoved = 0;
        if (next.spotsPerReferral !== current.spotsPerReferral) recordsMoved = await this.reorder(session, next);
        await session.commit([
          this.queues.updateSettings(next),
          this.writes.record(write, { action: 'waitlist_updated', waitlistId, counts: { recordsMoved } }),
        ]);
        return next;
      },
      {
        deadlineMs: changes.spotsPerReferral === undefined ? undefined : REORDERING_MAX_MS,
        onRetry: (reason) => this.metrics.retries.inc({ reason }),
      },
    );
    return { waitlist, recordsMoved };
  }

  private async refuse(waitlistId: number, { token, write }: Refuse): Promise<Refused> {
    let refused = 0;
    await this.database.pipelinedTransaction(
      async (session) => {
        const [waitlist, done, [referrer], counts] = await session.all([
          this.queues.lock(waitlistId),
          this.audit.findDone([write.id]),
          this.waiters.findReferrers(waitlistId, [token]),
          this.waiters.countReferrals(waitlistId, token),
        ]);
        // A retry after a lost answer to the commit.
        if (done.has(write.id)) return;
        const credits = ['credited', 'awaiting_verification', 'withheld'] as const;
        const count = (credit: Credit) => (counts.records.get(credit) ?? 0) + (counts.tombstones.get(credit) ?? 0);
        refused = credits.reduce((sum, credit) => sum + count(credit), referrer?.importedReferrals ?? 0);
        const standings = referrer ? [withoutReferrals(referrer, waitlist.spotsPerReferral)] : [];
        const counters = new CounterChanges(waitlist);
        for (const { rankKey: to } of standings)
          if (referrer?.status === 'waiting') counters.move(referrer.rankKey, to, referrer.referred);
        const siblings = await session.one(this.buckets.findSiblings(waitlistId, counters));
        const uuids = referrer ? [referrer.uuid] : [];
        await session.commit([
          this.waiters.refuseReferrals(waitlistId, token),
          this.waiters.updateStandings(waitlistId, standings),
          this.buckets.save(waitlistId, counters.changedBuckets(siblings)),
          this.queues.update(waitlist),
          this.writes.record(write, { action: 'referrals_refused', waitlistId, uuids, counts: { refused } }),
        ]);
      },
      { deadlineMs: REFUSAL_MAX_MS, onRetry: (reason) => this.metrics.retries.inc({ reason }) },
    );
    return { refused };
  }

  /** Computes all rank keys again, and the counters with them. Returns how many active records got another rank key. */
  private async reorder(session: Session, { id, spotsPerReferral, ...totals }: WholeWaitlist): Promise<number> {
    const moves = await session.one(this.waiters.countMoves(id, spotsPerReferral));
    const counters = new CounterChanges(totals);
    for (const { from, to, referred, amount } of moves)
      counters.move(firstKeyOf(QUEUE_AXIS, from), firstKeyOf(QUEUE_AXIS, to), referred, amount);
    const siblings = await session.one(this.buckets.findSiblings(id, counters));
    await session.all([
      this.waiters.rekey(id, spotsPerReferral),
      this.buckets.save(id, counters.changedBuckets(siblings)),
    ]);
    return moves.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** A batch that fails as a whole is carried out one by one, so that only the command at fault fails. */
  private async carryOut(waitlistId: number, commands: readonly Command[]): Promise<readonly Outcome<Result>[]> {
    try {
      return await this.commit(waitlistId, commands);
    } catch (error) {
      if (commands.length === 1 || error instanceof Problem) return commands.map(() => ({ error }));
      const outcomes: Outcome<Result>[] = [];
      for (const command of commands) {
        const [outcome] = await this.carryOut(waitlistId, [command]);
        outcomes.push(outcome as Outcome<Result>);
        if (outcome && 'error' in outcome && isUnavailable(outcome.error)) break;
      }
      // If the database is unavailable, the remaining commands get the same error without waiting for it.
      return commands.map((_, index) => outcomes[index] ?? (outcomes.at(-1) as Outcome<Result>));
    }
  }

  private async commit(
    waitlistId: number,
    commands: readonly Command[],
    attempt = 1,
  ): Promise<readonly Outcome<Result>[]> {
    const start = performance.now();
    try {
      let notified: readonly Subscriber[] = [];
      const { outcomes, ...decision } = await this.database.pipelinedTransaction(
        async (session) => {
          const { subscribers, ...facts } = await this.readFacts(session, waitlistId, commands);
          const decision = decide(facts, commands);
          notified = subscribers;
          await this.store(session, facts, decision, subscribers);
          return decision;
        },
        {
          deadlineMs: commands.some(isLongOffboarding) ? OFFBOARDING_MAX_MS : undefined,
          onRetry: (reason) => this.metrics.retries.inc({ reason }),
        },
      );
      this.metrics.committed(commands.length, performance.now() - start, decision);
      if (decision.erased.length > 0) this.writeAheadLog.empty();
      const isSignupWanted = webhookIdsFor(notified, 'new_signup').length > 0;
      if (decision.signups.length > 0 && isSignupWanted) this.signal.onSignups(waitlistId);
      if (decision.events.length > 0) this.signal.onDeliveries(notified.map(({ id }) => id));
      if (decision.mails.length > 0) this.signal.onMails();
      return outcomes;
    } catch (error) {
      if (!isDuplicateKey(error) || attempt === DUPLICATE_ATTEMPTS_MAX) throw error;
      this.metrics.retries.inc({ reason: 'duplicate_key' });
      return await this.commit(waitlistId, commands, attempt + 1);
    }
  }

  /** Takes the lock and reads the facts, in one round trip; in two where credit is at stake. */
  private async readFacts(
    session: Session,
    waitlistId: number,
    commands: readonly Command[],
  ): Promise<Facts & { readonly subscribers: readonly Subscriber[] }> {
    const ids: number[] = [];
    const uuids: string[] = [];
    let next = 0;
    const tokens: string[] = [];
    const hashes: string[] = [];
    const writeIds: string[] = [];
    const contacts: ContactKeys[] = [];
    for (const command of commands) {
      if (command.kind === 'join') tokens.push(...command.applicant.referrerTokens);
      else if (command.kind === 'verify') hashes.push(command.tokenHash);
      else writeIds.push(command.write.id);
      if (command.kind === 'join' || command.kind === 'correct') contacts.push(command.keys);
      if (command.kind === 'correct') uuids.push(command.uuid);
      if (command.kind === 'erase') uuids.push(...command.uuids);
      if (command.kind !== 'offboard') continue;
      const { selection } = command;
      if ('ids' in selection) ids.push(...selection.ids);
      else if ('uuids' in selection) uuids.push(...selection.uuids);
      else next += selection.next;
    }
    const [waitlist, byId, byUuid, first, done, taken, joining, subscribers, links, byLink] = await session.all([
      this.queues.lock(waitlistId),
      this.waiters.findByIds(waitlistId, [...new Set(ids)]),
      this.waiters.findByUuids(waitlistId, [...new Set(uuids)], LARGE),
      // Other offboardings of the batch can remove some of the first records by their ids or uuids.
      this.waiters.findFirst(waitlistId, next === 0 ? 0 : next + ids.length + uuids.length),
      this.audit.findDone(writeIds),
      this.waiters.findTaken(waitlistId, contacts),
      this.waiters.findReferrers(waitlistId, [...new Set(tokens)]),
      this.deliveries.findSubscribers(waitlistId),
      this.links.find(waitlistId, hashes),
      this.waiters.findByLinks(waitlistId, hashes),
    ]);
    const named = [...byId, ...byUuid, ...byLink];
    const [earning, recent, mailboxes] = await session.all([
      this.findEarning(waitlistId, commands, named),
      ...this.findSuspicions(waitlist, commands, joining),
    ]);
    const hasSubscribers = subscribers.length > 0;
    const referrers = [...joining, ...earning];
    return { waitlist, named, first, done, taken, referrers, links, mailboxes, recent, hasSubscribers, subscribers };
  }

  /** The records that referred those whose credit a command can change. */
  private findEarning(waitlistId: number, commands: readonly Command[], named: readonly Waiter[]) {
    const changing = commands.flatMap((command) => {
      if (command.kind === 'verify') return named;
      if (command.kind !== 'correct' || (!command.changes.verified && !command.changes.credit)) return [];
      return named.filter(({ uuid }) => uuid === command.uuid);
    });
    const tokens = changing.flatMap(({ referredByToken }) => referredByToken ?? []);
    return this.waiters.findReferrers(waitlistId, [...new Set(tokens)]);
  }

  /** For the joins with a referrer: the latest referrals, and the records that have the same mailbox. */
  private findSuspicions(
    { id, fraud }: LeanWaitlist,
    commands: readonly Command[],
    referrers: readonly StoredWaiter[],
  ): [Query<RecentReferrals>, Query<MailboxHolder[]>] {
    const known = new Set(referrers.map(({ referralToken }) => referralToken));
    const sources = new Map<string, ReferralSource>();
    const mailboxes = new Set<string>();
    const add = (source: ReferralSource) => sources.set(sourceKey(source.token, source.network), source);
    for (const command of commands) {
      if (command.kind !== 'join') continue;
      const { referrerTokens, trust } = command.applicant;
      const token = referrerTokens.find((candidate) => known.has(candidate));
      if (token === undefined) continue;
      const { referrals_per_hour: max, referrals_per_network_per_hour: networkMax } = fraud;
      if (max !== null) add({ token, network: null, max });
      if (networkMax !== null && trust.network !== null) add({ token, network: trust.network, max: networkMax });
      const mailbox = mailboxOf({ ...command.keys, mailboxKey: trust.mailboxKey });
      if (fraud.same_mailbox && mailbox !== null) mailboxes.add(mailbox);
    }
    return [this.recent.count(id, [...sources.values()]), this.waiters.findMailboxes(id, [...mailboxes])];
  }

  /** Stores a decision; writes nothing, and so waits for no disk, if nothing changes. */
  private async store(
    session: Transaction,
    facts: Facts,
    decision: Decision,
    subscribers: readonly Subscriber[],
  ): Promise<void> {
    const { at, waitlist, written, removals, erased, corrections, joined, changedReferrers, counters, days } = decision;
    const { usedLinks, changedEmails, recentReferrals, mails, events } = decision;
    if (written.length + joined.length + usedLinks.length + mails.length === 0) return;
    const { id } = waitlist;
    // All that commands name: removals and corrections have ids only.
    const mayChange = [...facts.named, ...facts.first, ...changedReferrers].map(({ uuid }) => uuid);
    const [siblings, signupEvents] = await session.all([
      this.buckets.findSiblings(id, counters),
      this.signupEvents.lockByUuids(id, [...new Set(mayChange)]),
    ]);
    // It reads the records as they are before the changes.
    const signupDeliveries = await this.signupDeliveries.make(session, id, signupEvents);
    const gone = erased.map(({ uuid }) => uuid);
    const changes = [
      // Before `scrub`, which empties the payloads of erased people.
      signupDeliveries,
      ...removals.map((removal) => this.waiters.remove(id, removal)),
      this.waiters.erase(id, erased, at),
      ...corrections.map((correction) => this.waiters.correct(id, correction)),
      ...written.map(({ write, ...record }) => this.writes.record(write, { waitlistId: id, ...record })),
      this.waiters.insert(joined),
      this.waiters.updateStandings(id, changedReferrers),
      this.buckets.save(id, counters.changedBuckets(siblings)),
      this.days.add(id, days.changed()),
      this.recent.insert(id, recentReferrals),
      ...usedLinks.map((link) => this.links.use(link, at)),
      this.deliveries.scrub(id, gone),
      this.mails.drop(id, gone),
      this.mails.drop(id, changedEmails, ['verification']),
      this.links.deleteOf(id, [...changedEmails, ...gone]),
      this.mails.insert(id, mails),
      this.signupEvents.insert(signupEventsOf(decision, subscribers)),
      this.queues.update(waitlist),
    ];
    const shown = events.filter(({ event }) => event !== 'erased_signup');
    if (shown.length === 0) {
      await session.commit([...changes, this.deliveries.insert(id, eventsOf(decision, subscribers, []))]);
      return;
    }
    // An event shows its record after the changes.
    const uuids = [...new Set(shown.map(({ uuid }) => uuid))];
    const [, waiters] = await session.all([together(changes), this.waiters.findByUuids(id, uuids)]);
    await session.commit([this.deliveries.insert(id, eventsOf(decision, subscribers, waiters))]);
  }
}

/** It is alone, because its weight exceeds that of a full batch. */
function isLongOffboarding(command: Command): boolean {
  return command.kind === 'offboard' && weightOf(command) > BATCH_MAX;
}

/** How many records a command changes; large text adds to it, because a batch must fit in one packet of the database. */
function weightOf(command: Command | Lone): number {
  if (command.kind === 'configure' || command.kind === 'refuse') return BATCH_MAX + 1;
  if (command.kind === 'verify') return 1;
  if (command.kind === 'erase') return command.uuids.length;
  if (command.kind === 'offboard') {
    const { selection } = command;
    if ('next' in selection) return selection.next;
    return 'ids' in selection ? selection.ids.length : selection.uuids.length;
  }
  const { metadata = null } = command.kind === 'join' ? command.applicant : command.changes;
  const answers = command.kind === 'join' ? (command.applicant.answers ?? null) : null;
  if (metadata === null && answers === null) return 1;
  return 1 + Math.floor(Buffer.byteLength(JSON.stringify([metadata, answers])) / WEIGHTY_TEXT_BYTES);
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

function withoutReferrals(referrer: StoredWaiter, spotsPerReferral: number): StoredWaiter {
  const changed = { ...referrer, creditedReferrals: 0 };
  return { ...changed, rankKey: rankKey(changed, spotsPerReferral) };
}
