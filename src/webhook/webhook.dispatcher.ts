import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { OutboxSignal } from '../outbox/outbox.signal.js';
import type { WebhookEntity } from '../outbox/webhook.entity.js';
import { BackgroundTask, BackgroundTasks } from '../platform/background-task.js';
import { Database } from '../platform/database/database.js';
import { known, type Query, together } from '../platform/database/session.js';
import { Turns } from '../platform/limits/turns.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { OfferReader } from '../queue/offers/offer.reader.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import { type Candidate, CANDIDATES_MAX, type Claimed, DueDeliveryStore } from './due-delivery.store.js';
import { type Receiver, ReceiverHealth, type Slot } from './receiver-health.js';
import { nextState, type NextState } from './retry-schedule.js';
import { WebhookMetrics } from './webhook.metrics.js';
import { type Outcome, WebhookSender } from './webhook.sender.js';
import { WebhookService } from './webhook.service.js';

/** How often each process looks for retries that are due, and for deliveries of processes that died. */
const POLL_MS = 1_000;
/** Longer than an attempt plus the time in which its result is stored. */
const LEASE_MS = 30_000;
/** While commands wait for a transaction, signups come first: claims and results are gathered in few transactions. */
const BUSY_PAUSE_MS = 200;
/** Results stored in one transaction. */
const SETTLED_MAX = 100;
/** A webhook that has failed for longer than this is turned off. */
const FAILING_MAX_MS = 5 * 24 * 3_600_000;
/** Time that attempts under way get when the process stops. Then they are given back for another process. */
const GRACE_MS = 3_000;

interface Attempt {
  readonly webhook: WebhookEntity;
  readonly delivery: Claimed;
}

/** An attempt that has ended. */
interface Ended extends Attempt {
  readonly slot: Slot;
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** This process stopped it. */
  readonly isStopped: boolean;
}

interface Tried extends Ended {
  readonly next: NextState;
}

/**
 * Sends the deliveries; all processes share them by claims. It claims deliveries and stores results in short
 * transactions, at most one of each at a time, so that no receiver keeps a connection from requests.
 */
@Injectable()
export class WebhookDispatcher implements BeforeApplicationShutdown {
  private readonly polling = new BackgroundTask(() => this.poll(), POLL_MS);
  private readonly claiming = new BackgroundTask(() => this.claimAll(), POLL_MS);
  private readonly settling = new BackgroundTask(() => this.settleAll(), POLL_MS);
  private readonly health = new ReceiverHealth();
  /** Ids of webhooks that may have due deliveries; their accounts are not read yet. */
  private readonly woken = new Set<number>();
  /** The same, with their accounts, which take turns. */
  private readonly claimable = new Turns();
  private readonly attempts = new Set<Promise<void>>();
  private readonly ended: Ended[] = [];
  private readonly stopped = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly deliveries: DueDeliveryStore,
    private readonly webhooks: WebhookService,
    private readonly sender: WebhookSender,
    private readonly secrets: Secrets,
    private readonly queue: QueueWriter,
    private readonly offers: OfferReader,
    private readonly metrics: WebhookMetrics,
    private readonly tasks: BackgroundTasks,
    signal: OutboxSignal,
  ) {
    for (const task of [this.settling, this.claiming, this.polling]) tasks.add(task, 'could not send events yet');
    signal.wakeForDeliveries = (webhookIds) => this.wake(webhookIds);
  }

  /** Claims nothing more, and stores the results of the attempts under way. What has no response soon is given back. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.polling.stop();
    await this.claiming.stop();
    const grace = setTimeout(() => this.stopped.abort(), GRACE_MS);
    await Promise.all(this.attempts);
    clearTimeout(grace);
    await this.settling.stop();
    await this.settling.attempt(() => this.settleAll());
    this.sender.close();
  }

  private wake(webhookIds: readonly number[]): void {
    if (!this.claiming.isStarted) return;
    for (const id of webhookIds) this.woken.add(id);
    this.claiming.wake();
  }

  private async poll(): Promise<void> {
    const now = new Date();
    const pending = await this.database.one(this.deliveries.findPending());
    this.wake(pending.filter(({ nextAttemptAt }) => nextAttemptAt <= now).map(({ id }) => id));
  }

  private async claimAll(): Promise<void> {
    await this.readAccounts();
    if (this.claimable.size > 0) await this.giveWay();
    for (let left = this.claimable.size; left > 0; left -= 1) {
      const receiver = this.claimable.next((one) => this.health.freeSlots(one) > 0);
      if (!receiver || this.claiming.isStopped) return;
      // One that cannot be claimed must not block the next ones.
      await this.claiming.attempt(() => this.claim(receiver, this.health.freeSlots(receiver)));
      // Those that were woken meanwhile do not wait for the others.
      await this.readAccounts();
    }
  }

  /** Reads the accounts of the webhooks that were woken, because accounts share the slots. */
  private async readAccounts(): Promise<void> {
    const ids = [...this.woken].filter((id) => !this.claimable.has(id));
    // First, so that a webhook that is woken meanwhile stays. If this fails, the next poll wakes them.
    this.woken.clear();
    if (ids.length === 0) return;
    const receivers = await this.database.one(this.deliveries.findReceivers(ids));
    this.claimable.add(receivers);
  }

  private async giveWay(): Promise<void> {
    if (this.queue.waiting > 0) await pause(BUSY_PAUSE_MS);
  }

  /** Claims at most `slots` due deliveries of a webhook, and begins to send them. */
  private async claim(receiver: Receiver, slots: number): Promise<void> {
    const { id } = receiver;
    this.claimable.remove(id);
    const now = new Date();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const claimed = await this.database.pipelinedTransaction(async (transaction) => {
      const [webhook, candidates] = await transaction.all([
        this.deliveries.findActive(id),
        this.deliveries.lockDue(id, now),
      ]);
      const secrets = webhook && this.secretsOf(webhook, now);
      if (!webhook || !secrets) return null;
      const ready = candidates.filter((candidate) => !mustWait(candidate));
      const taken = ready.slice(0, slots);
      const ids = taken.map((candidate) => candidate.id);
      const [bodies] = await transaction.commit([
        this.deliveries.readBodies(ids),
        this.deliveries.putOff(ids, leasedUntil),
        this.putOffWaiting(candidates, now, leasedUntil),
      ]);
      const deliveries = taken.flatMap((candidate) => {
        const body = bodies.get(candidate.id);
        // Its payload has expired, so this delivery will soon be marked failed.
        return body === undefined
          ? []
          : [{ ...candidate, waitlistId: webhook.waitlistId, webhookId: id, leasedUntil, body }];
      });
      return { webhook, secrets, deliveries, hasMore: ready.length > slots || candidates.length === CANDIDATES_MAX };
    });
    if (!claimed) return;
    const { webhook, secrets, deliveries, hasMore } = claimed;
    if (hasMore) this.claimable.add([receiver]);
    for (const delivery of await this.withLinks(webhook, deliveries))
      this.begin({ webhook, delivery }, this.health.begin(receiver), secrets);
  }

  /**
   * Adds the link to the events of offers that are still open. The stored payload has none: codes are stored encrypted
   * only, and only while their offer is open.
   */
  private async withLinks({ waitlistId }: WebhookEntity, deliveries: readonly Claimed[]): Promise<readonly Claimed[]> {
    const uuids = deliveries.flatMap(({ event, waiterUuid }) => (event === 'offered_signup' && waiterUuid) || []);
    if (uuids.length === 0) return deliveries;
    const open = await this.offers.findLinks(waitlistId, uuids);
    return deliveries.map((delivery) => {
      const offer = delivery.event === 'offered_signup' ? open.get(delivery.waiterUuid ?? '') : undefined;
      // The open offer may be a later one: the person returned, and was offered a seat again.
      if (offer?.madeAt.getTime() !== delivery.createdAt.getTime()) return delivery;
      const body = JSON.parse(delivery.body) as object;
      return { ...delivery, body: JSON.stringify({ ...body, offer_url: offer.url }) };
    });
  }

  /** Puts off deliveries that wait for an earlier one about the same record: to its next attempt or its lease's end. */
  private putOffWaiting(candidates: readonly Candidate[], now: Date, leasedUntil: Date): Query<unknown> {
    const waiting = new Map<number, string[]>();
    for (const candidate of candidates.filter(mustWait)) {
      // `first` is null if this delivery was committed while the statement ran. Leave it due: the next claim sees the
      // earlier ones.
      if (!candidate.first) continue;
      const { nextAttemptAt } = candidate.first;
      const untilMs = (nextAttemptAt > now ? nextAttemptAt : leasedUntil).getTime();
      waiting.set(untilMs, [...(waiting.get(untilMs) ?? []), candidate.id]);
    }
    return together([...waiting].map(([untilMs, ids]) => this.deliveries.putOff(ids, new Date(untilMs))));
  }

  /** The secrets that sign; null if this process cannot decrypt the current one. */
  private secretsOf({ sealedSecret, sealedOldSecret, oldSecretUntil }: WebhookEntity, now: Date): string[] | null {
    const current = this.secrets.open(sealedSecret);
    if (current === null) return null;
    const isOldValid = sealedOldSecret !== null && oldSecretUntil !== null && oldSecretUntil > now;
    const old = isOldValid ? this.secrets.open(sealedOldSecret) : null;
    return old === null ? [current] : [current, old];
  }

  private begin(attempt: Attempt, slot: Slot, secrets: readonly string[]): void {
    const { webhook, delivery } = attempt;
    const { id, body } = delivery;
    const startMs = performance.now();
    const sending = this.sender.send({ id, body, url: webhook.url, secrets }, this.stopped.signal).then((outcome) => {
      const isStopped = outcome.status === null && this.stopped.signal.aborted;
      this.ended.push({ ...attempt, slot, outcome, isStopped, durationMs: performance.now() - startMs });
      this.attempts.delete(sending);
      this.settling.wake();
    });
    this.attempts.add(sending);
  }

  /** While the database is unavailable, the results wait and keep their slots. */
  private async settleAll(): Promise<void> {
    while (this.ended.length > 0) {
      await this.giveWay();
      const some = this.ended.slice(0, SETTLED_MAX);
      await this.settle(some);
      this.ended.splice(0, some.length);
      for (const { slot } of some) this.health.end(slot);
      // The next delivery about the same record may be due now.
      this.claimable.add(some.map(({ slot }) => slot.receiver));
      this.claiming.wake();
    }
  }

  private async settle(ended: readonly Ended[]): Promise<void> {
    const now = new Date();
    const tried = ended
      .filter(({ isStopped }) => !isStopped)
      .map((attempt) => ({ ...attempt, next: nextState(attempt.outcome.status, attempt.delivery.attempts + 1, now) }));
    const released = ended
      .filter(({ isStopped }) => isStopped)
      .map(({ delivery }) => this.deliveries.release(delivery, now));
    const settled = tried.flatMap(({ delivery, outcome, next }) => {
      const isLast = next.status !== 'pending' && delivery.waiterUuid !== null;
      return [
        this.deliveries.settle(delivery, next, outcome),
        ...(isLast ? [this.deliveries.releaseNext(delivery, now)] : []),
      ];
    });
    const health = tried.map((attempt) => this.healthChange(attempt, now));
    await this.database.pipelinedTransaction((transaction) => transaction.commit([...released, ...settled, ...health]));
    for (const { webhook, next } of tried) {
      this.metrics.ended(next);
      if (next.status === 'delivered') continue;
      const failingMs = webhook.failingSince === null ? 0 : now.getTime() - webhook.failingSince.getTime();
      if (failingMs > FAILING_MAX_MS) await this.webhooks.turnOff(webhook);
    }
  }

  /** Updates what this process knows of a receiver. Returns the query of `failing_since`, for all processes. */
  private healthChange({ webhook, outcome: { status, failure }, next, durationMs }: Tried, now: Date): Query<unknown> {
    const { id, waitlistId, failingSince } = webhook;
    const isDelivered = next.status === 'delivered';
    const wasFailing = this.health.problemOf(id) !== null;
    this.health.record(id, isDelivered ? null : (failure ?? String(status)), durationMs, now.getTime());
    const isFailing = this.health.problemOf(id) !== null;
    const { log } = this.tasks;
    if (isFailing && !wasFailing) log.warn({ webhookId: id, waitlistId, status, failure }, 'a webhook fails');
    if (wasFailing && !isFailing) log.info({ webhookId: id, waitlistId }, 'a webhook works again');
    if (isDelivered)
      return wasFailing || failingSince !== null ? this.deliveries.setFailing(id, null) : known(undefined);
    return failingSince === null ? this.deliveries.setFailing(id, now) : known(undefined);
  }
}

/**
 * Whether an earlier delivery about the same record may still be pending. The locking read can return rows newer than
 * those its subqueries see.
 */
function mustWait({ waiterUuid, number, first }: Candidate): boolean {
  return waiterUuid !== null && first?.number !== number;
}
