import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { databaseGauge, readForScrape } from '../platform/database/database-gauge.js';
import { mapped } from '../platform/database/session.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { OfferStore } from './offers/offer.store.js';
import type { Decision } from './write/state.js';
import { QueueStore } from './settings/queue.store.js';
import { WaitlistMetrics } from './waitlist.metrics.js';

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const COMMIT_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What the counter of offers counts: that they are made, or reach a state other than `open`. */
const OFFER_CHANGES = ['made', 'accepted', 'declined', 'expired', 'withdrawn'] as const;

/** Metrics of the queue writer. */
@Injectable()
export class QueueMetrics {
  /** Counts the waiting commands, whenever the metrics are read. */
  countWaiting: () => number = () => 0;
  private readonly retries: Counter<'reason'>;
  readonly refusals: Counter;
  /** Runs of release plans that have ended, by state. */
  readonly releases: Counter<'state'>;
  private readonly batchCommands: Histogram;
  private readonly commitDuration: Histogram;
  private readonly offers: Counter<'change'>;
  /** Only if /metrics has a port of its own: on the public port, strangers could watch an owner's waitlist. */
  private readonly byWaitlist: WaitlistMetrics | undefined;

  constructor(
    { registry }: Metrics,
    @Inject(CONFIG) { metricsPort }: Config,
    database: Database,
    queues: QueueStore,
    offers: OfferStore,
  ) {
    if (metricsPort !== undefined)
      this.byWaitlist = new WaitlistMetrics(registry, (waitlistsMax) =>
        readForScrape(database, queues.countActive(waitlistsMax)),
      );
    const registers = [registry];
    const waiting: Gauge = new Gauge({
      name: 'waitlist_queue_waiting_commands',
      help: "Signups and owners' changes that wait for a transaction, over all waitlists.",
      registers,
      collect: () => waiting.set(this.countWaiting()),
    });
    this.batchCommands = new Histogram({
      name: 'waitlist_queue_batch_commands',
      help: 'Commands that shared one transaction.',
      buckets: BATCH_BUCKETS,
      registers,
    });
    this.commitDuration = new Histogram({
      name: 'waitlist_queue_commit_duration_seconds',
      help: 'Duration of a write transaction of the queue, retries included.',
      buckets: COMMIT_BUCKETS_SECONDS,
      registers,
    });
    this.retries = new Counter({
      name: 'waitlist_queue_retries_total',
      help: 'Transactions that were retried, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.releases = new Counter({
      name: 'waitlist_release_runs_total',
      help: 'Runs of release plans, by how they ended: done, skipped (more than an hour late).',
      labelNames: ['state'],
      registers,
    });
    for (const state of ['done', 'skipped']) this.releases.inc({ state }, 0);
    this.refusals = new Counter({
      name: 'waitlist_queue_refusals_total',
      help: 'Commands refused because the queue was full.',
      registers,
    });
    this.offers = new Counter({
      name: 'waitlist_offers_total',
      help: 'Offers by what happened to them: made, accepted, declined, expired, withdrawn (their people returned).',
      labelNames: ['change'],
      registers,
    });
    for (const change of OFFER_CHANGES) this.offers.inc({ change }, 0);
    databaseGauge(registry, database, {
      name: 'waitlist_offer_delay_seconds',
      help: 'Seconds since the offer that has waited longest for its time to begin or end was due.',
      read: () =>
        mapped(offers.findFirstDue(), (due) => (due === null ? 0 : Math.max(0, Date.now() - due.getTime()) / 1000)),
    });
  }

  /** Counts a retry. `reason` is a database's error code or another word of a small set. */
  readonly onRetry = (reason: string): void => this.retries.inc({ reason });

  /** A commit whose answer was lost is not counted by waitlist: the repeated `decision` finds its work done. */
  committed(commandCount: number, durationMs: number, decision: Decision): void {
    this.byWaitlist?.committed(decision);
    const { newOffers, changedOffers } = decision;
    this.offers.inc({ change: 'made' }, newOffers.length);
    for (const { state } of changedOffers) if (state !== 'open') this.offers.inc({ change: state });
    this.batchCommands.observe(commandCount);
    this.commitDuration.observe(durationMs / 1000);
  }
}
