import { Counter, Gauge, type Registry } from 'prom-client';
import type { Decision } from './write/state.js';

/** Waitlists that metrics name; others share the label `other`. Each costs Prometheus four time series per process. */
export const WAITLISTS_NAMED_MAX = 1_000;
const OTHER = 'other';

/** Active records by waitlist id, of the first waitlists, and of all together. */
export interface ActiveRecords {
  readonly byWaitlist: ReadonlyMap<number, number>;
  readonly total: number;
}

const NONE: ActiveRecords = { byWaitlist: new Map(), total: 0 };

/**
 * Metrics that name a waitlist. Each process counts its own commits. The gauge is read from the database, so that all
 * processes show the same, also for waitlists that they have not changed since they started.
 */
export class WaitlistMetrics {
  private readonly named = new Set<number>();
  private readonly signups: Counter<'waitlist_id'>;
  private readonly referred: Counter<'waitlist_id'>;
  private readonly offboarded: Counter<'waitlist_id'>;

  constructor(registry: Registry, readActive: (waitlistsMax: number) => Promise<ActiveRecords | null>) {
    const common = { labelNames: ['waitlist_id'] as const, registers: [registry] };
    this.signups = new Counter({
      ...common,
      name: 'waitlist_signups_total',
      help: 'New records in the queue, by waitlist.',
    });
    this.referred = new Counter({
      ...common,
      name: 'waitlist_referred_signups_total',
      help: 'New records in the queue that another one referred, by waitlist.',
    });
    this.offboarded = new Counter({
      ...common,
      name: 'waitlist_offboarded_signups_total',
      help: 'Records that were offboarded, by waitlist.',
    });
    const active: Gauge<'waitlist_id'> = new Gauge({
      ...common,
      name: 'waitlist_active_signups',
      help: 'Active records, by waitlist. Absent while the database is unavailable.',
      collect: async () => {
        active.reset();
        const { byWaitlist, total } = (await readActive(WAITLISTS_NAMED_MAX)) ?? NONE;
        let rest = total;
        for (const [id, count] of byWaitlist) {
          active.set({ waitlist_id: id }, count);
          rest -= count;
        }
        if (byWaitlist.size === WAITLISTS_NAMED_MAX) active.set({ waitlist_id: OTHER }, Math.max(0, rest));
      },
    });
  }

  /** Counts what a transaction has committed. */
  committed({
    waitlist,
    joined,
    entered,
    statusChanges,
  }: Pick<Decision, 'waitlist' | 'joined' | 'entered' | 'statusChanges'>): void {
    const label = { waitlist_id: this.labelOf(waitlist.id) };
    const newcomers = [...joined.filter(({ status }) => status === 'waiting'), ...entered];
    this.signups.inc(label, newcomers.length);
    this.referred.inc(label, newcomers.filter(({ referred }) => referred).length);
    for (const { status, records } of statusChanges)
      if (status === 'offboarded') this.offboarded.inc(label, records.size);
  }

  private labelOf(waitlistId: number): string {
    if (this.named.size < WAITLISTS_NAMED_MAX) this.named.add(waitlistId);
    return this.named.has(waitlistId) ? String(waitlistId) : OTHER;
  }
}
