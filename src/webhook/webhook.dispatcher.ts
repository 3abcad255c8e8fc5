import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { OutboxSignal } from '../outbox/outbox.signal.js';
import { SignupEventStore } from '../outbox/signup-event.store.js';
import type { WebhookEntity } from '../outbox/webhook.entity.js';
import { BackgroundTask } from '../platform/background-task.js';
import { Database } from '../platform/database/database.js';
import { known, type Query, together } from '../platform/database/session.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { QueueWriter } from '../queue/queue.writer.js';
import { SignupDeliveries } from '../queue/signup-deliveries.js';
import { type Candidate, CANDIDATES_MAX, type Claimed, DispatchStore } from './dispatch.store.js';
import { nextState, type NextState } from './retry-schedule.js';
import { WebhookMetrics } from './webhook.metrics.js';
import { WebhookSender } from './webhook.sender.js';
import { WebhookService } from './webhook.service.js';

/** How often each process looks for retries that are due, and for signups and deliveries of processes that died. */
const POLL_MS = 1_000;
/** Longer than an attempt plus the time in which its result is stored. */
const LEASE_MS = 30_000;
/** An attempt that takes longer holds its slot as one that fails does. */
const SLOW_MS = 2_000;
/** How long a webhook counts as failing after an attempt that failed or was slow: one fast response proves little. */
const FAILING_MS = 60_000;
/** Attempts under way per webhook. A failing one gets fewer, so that receivers that fail or are slow hold few slots. */
const PER_WEBHOOK = { healthy: 8, failing: 2 };
/** Attempts under way per process. Failing webhooks together use at most the second number; the rest is for the others. */
const PER_PROCESS = { healthy: 256, failing: 128 };
/** While commands wait for a transaction, signups come first: claims and results are gathered in few transactions. */
const BUSY_PAUSE_MS = 200;
/** The same before making deliveries: a transaction makes more than a webhook is sent meanwhile. */
const BUSY_MAKING_PAUSE_MS = 500;
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
  /** The status of the response; null without one. */
  readonly status: number | null;
  readonly durationMs: number;
  /** This process stopped it. */
  readonly isStopped: boolean;
}

interface Tried extends Ended {
  readonly next: NextState;
}

/**
 * Makes the deliveries of new signups, and sends all deliveries. Every process has one; they share the work by locks and claims in
 * the database. It makes deliveries, claims them and stores results in short transactions, at most one of each at a time, so that
 * no receiver keeps a connection from requests.
 */
@Injectable()
export class WebhookDispatcher implements BeforeApplicationShutdown {
  private readonly polling = new BackgroundTask(() => this.poll(), POLL_MS);
  private readonly making = new BackgroundTask(() => this.makeAll(), POLL_MS);
  private readonly claiming = new BackgroundTask(() => this.claimAll(), POLL_MS);
  private readonly settling = new BackgroundTask(() => this.settleAll(), POLL_MS);
  private isWatching = false;
  /** Waitlists that may have signups without deliveries. */
  private readonly waitlistsWithSignups = new Set<number>();
  /** Webhooks that may have due deliveries. */
  private readonly due = new Set<number>();
  /** Attempts under way, or whose result is not stored yet, by webhook. */
  private readonly underWay = new Map<number, number>();
  private readonly attempts = new Set<Promise<void>>();
  private readonly ended: Ended[] = [];
  /** Until when webhooks count as failing, in milliseconds since 1970. */
  private readonly failingUntil = new Map<number, number>();
  private readonly stopped = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly deliveries: DispatchStore,
    private readonly signupEvents: SignupEventStore,
    private readonly signupDeliveries: SignupDeliveries,
    private readonly webhooks: WebhookService,
    private readonly sender: WebhookSender,
    private readonly secrets: Secrets,
    private readonly queue: QueueWriter,
    private readonly metrics: WebhookMetrics,
    signal: OutboxSignal,
  ) {
    signal.onDeliveries = (webhookIds) => this.wake(webhookIds);
    signal.onSignups = (waitlistId) => this.wakeForSignups([waitlistId]);
  }

  /** Starts to send. `onFailure` gets every error except an unavailable database. */
  watch(onFailure: (error: unknown) => void): void {
    this.isWatching = true;
    for (const task of [this.settling, this.claiming, this.making, this.polling]) task.start(onFailure);
  }

  /** Makes and claims nothing more, and stores the results of the attempts under way. What has no response soon is given back. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.polling.stop();
    await this.making.stop();
    await this.claiming.stop();
    const grace = setTimeout(() => this.stopped.abort(), GRACE_MS);
    await Promise.all(this.attempts);
    clearTimeout(grace);
    await this.settling.stop();
    await this.settling.attempt(() => this.settleAll());
    this.sender.close();
  }

  private wake(webhookIds: readonly number[]): void {
    if (!this.isWatching) return;
    for (const id of webhookIds) this.due.add(id);
    this.claiming.wake();
  }

  private wakeForSignups(waitlistIds: readonly number[]): void {
    if (!this.isWatching) return;
    for (const id of waitlistIds) this.waitlistsWithSignups.add(id);
    this.making.wake();
  }

  private async poll(): Promise<void> {
    const now = new Date();
    const [pending, waitlists] = await this.database.all([
      this.deliveries.findPending(),
      this.signupEvents.findWaitlists(),
    ]);
    this.wakeForSignups(waitlists.map(({ id }) => id));
    this.wake(pending.filter(({ nextAttemptAt }) => nextAttemptAt <= now).map(({ id }) => id));
  }

  /** Makes deliveries of new signups, some of each waitlist in turn. */
  private async makeAll(): Promise<void> {
    while (this.waitlistsWithSignups.size > 0) {
      await this.giveWay(BUSY_MAKING_PAUSE_MS);
      for (const id of [...this.waitlistsWithSignups]) {
        if (this.making.isStopped) return;
        await this.making.attempt(() => this.makeFor(id));
      }
    }
  }

  private async makeFor(waitlistId: number): Promise<void> {
    // First, so that a signup that is committed meanwhile adds it again. If this fails, the next poll does.
    this.waitlistsWithSignups.delete(waitlistId);
    const { webhookIds, hasMore } = await this.signupDeliveries.makeFirst(waitlistId);
    if (hasMore) this.waitlistsWithSignups.add(waitlistId);
    this.wake(webhookIds);
  }

  private async claimAll(): Promise<void> {
    const claimable = [...this.due].filter((id) => this.freeSlots(id) > 0);
    if (claimable.length > 0) await this.giveWay(BUSY_PAUSE_MS);
    for (const id of claimable) {
      // Those before may have taken the last ones.
      const slots = this.freeSlots(id);
      if (this.claiming.isStopped) return;
      // One that cannot be claimed must not block the next ones.
      if (slots > 0) await this.claiming.attempt(() => this.claim(id, slots));
    }
  }

  /** How many more attempts to this webhook may begin now. */
  private freeSlots(id: number): number {
    const state = this.isFailing(id) ? 'failing' : 'healthy';
    const own = this.underWay.get(id) ?? 0;
    const all = [...this.underWay].filter(([other]) => state === 'healthy' || this.isFailing(other));
    const total = all.reduce((sum, [, count]) => sum + count, 0);
    return Math.max(0, Math.min(PER_WEBHOOK[state] - own, PER_PROCESS[state] - total));
  }

  /** Waits so long if commands wait for a transaction. */
  private async giveWay(ms: number): Promise<void> {
    if (this.queue.waiting > 0) await pause(ms);
  }

  private isFailing(id: number): boolean {
    return (this.failingUntil.get(id) ?? 0) > Date.now();
  }

  /** Claims at most `slots` due deliveries of a webhook, and begins to send them. */
  private async claim(id: number, slots: number): Promise<void> {
    this.due.delete(id);
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
        // Without it, the payload is old, and the delivery is about to fail.
        return body === undefined
          ? []
          : [{ ...candidate, waitlistId: webhook.waitlistId, webhookId: id, leasedUntil, body }];
      });
      return { webhook, secrets, deliveries, hasMore: ready.length > slots || candidates.length === CANDIDATES_MAX };
    });
    if (!claimed) return;
    const { webhook, secrets, deliveries, hasMore } = claimed;
    if (hasMore) this.due.add(id);
    for (const delivery of deliveries) this.begin({ webhook, delivery }, secrets);
  }

  /**
   * Puts off deliveries that wait for an earlier one about the same record: until its next attempt, or while it is being sent,
   * until its lease ends.
   */
  private putOffWaiting(candidates: readonly Candidate[], now: Date, leasedUntil: Date): Query<unknown> {
    const waiting = new Map<number, string[]>();
    for (const candidate of candidates.filter(mustWait)) {
      // Without a first one it stays due: the next claim sees the earlier ones.
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

  private begin(attempt: Attempt, secrets: readonly string[]): void {
    const { webhook, delivery } = attempt;
    this.underWay.set(webhook.id, (this.underWay.get(webhook.id) ?? 0) + 1);
    const { id, body } = delivery;
    const startMs = performance.now();
    const sending = this.sender.send({ id, body, url: webhook.url, secrets }, this.stopped.signal).then((status) => {
      const isStopped = status === null && this.stopped.signal.aborted;
      this.ended.push({ ...attempt, status, isStopped, durationMs: performance.now() - startMs });
      this.attempts.delete(sending);
      this.settling.wake();
    });
    this.attempts.add(sending);
  }

  /** While the database is unavailable, the results wait and keep their slots. */
  private async settleAll(): Promise<void> {
    while (this.ended.length > 0) {
      await this.giveWay(BUSY_PAUSE_MS);
      const some = this.ended.slice(0, SETTLED_MAX);
      await this.settle(some);
      this.ended.splice(0, some.length);
      for (const { webhook } of some) {
        const count = (this.underWay.get(webhook.id) ?? 0) - 1;
        if (count > 0) this.underWay.set(webhook.id, count);
        else this.underWay.delete(webhook.id);
      }
      // The next delivery about the same record may be due now.
      this.wake(some.map(({ webhook }) => webhook.id));
    }
  }

  private async settle(ended: readonly Ended[]): Promise<void> {
    const now = new Date();
    const tried = ended
      .filter(({ isStopped }) => !isStopped)
      .map((attempt) => ({ ...attempt, next: nextState(attempt.status, attempt.delivery.attempts + 1, now) }));
    const released = ended
      .filter(({ isStopped }) => isStopped)
      .map(({ delivery }) => this.deliveries.release(delivery, now));
    const settled = tried.flatMap(({ delivery, status, next }) => {
      const isLast = next.status !== 'pending' && delivery.waiterUuid !== null;
      return [
        this.deliveries.settle(delivery, next, status),
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

  /** Updates `failingUntil` of this process at once. Returns the query that updates `failing_since`, for all processes. */
  private healthChange({ webhook, next, durationMs }: Tried, now: Date): Query<unknown> {
    const { id, failingSince } = webhook;
    const isDelivered = next.status === 'delivered';
    const wasFailing = this.failingUntil.has(id) || failingSince !== null;
    if (!isDelivered || durationMs > SLOW_MS) this.failingUntil.set(id, now.getTime() + FAILING_MS);
    else if (!this.isFailing(id)) this.failingUntil.delete(id);
    if (isDelivered) return wasFailing ? this.deliveries.setFailing(id, null) : known(undefined);
    return failingSince === null ? this.deliveries.setFailing(id, now) : known(undefined);
  }
}

/**
 * Whether an earlier delivery about the same record is pending, or may be: the lock reads rows that were committed after the
 * moment which the search for the first one sees.
 */
function mustWait({ waiterUuid, number, first }: Candidate): boolean {
  return waiterUuid !== null && first?.number !== number;
}
