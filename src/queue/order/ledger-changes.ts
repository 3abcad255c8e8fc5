import type { StoredWaiter } from '../record/waiter.js';
import { CounterChanges, type Totals } from './counters.js';
import { DayChanges, dayOf, daysOf } from './day-counts.js';

type Counted = Pick<
  StoredWaiter,
  'seq' | 'rankKey' | 'status' | 'referred' | 'createdAt' | 'removedAt' | 'removedReason'
>;

/**
 * Changes of everything that counts the records of a queue: the totals in the row of its waitlist, the counters by
 * position, and the counters by day. Pending records are in none of them, offered ones in no position.
 */
export class LedgerChanges<Waitlist extends Totals = Totals> {
  readonly counters: CounterChanges;
  readonly days = new DayChanges();

  /** `waitlist` takes the new totals at once. */
  constructor(readonly waitlist: Waitlist) {
    this.counters = new CounterChanges(waitlist);
  }

  /** Gives out the next numbers, at the end of the queue. */
  reserve(amount: number): void {
    if (amount === 0) return;
    this.waitlist.nextSeq += amount;
    this.counters.openEnd(this.waitlist.nextSeq - 1);
  }

  /** A record that has the next number joins the end of the queue. */
  join(record: Counted): void {
    this.reserve(1);
    this.add(record);
  }

  add(record: Counted): void {
    this.count(record, 1);
  }

  remove(record: Counted): void {
    this.count(record, -1);
  }

  /** Moves an active record from its rank key to another. Others are not in the order. */
  move({ status, rankKey, referred }: Counted, to: number): void {
    if (status === 'waiting') this.counters.move(rankKey, to, referred);
  }

  /** An erased record is counted as erased only. */
  erase(record: Counted, at: Date): void {
    this.remove(record);
    this.days.countErasure(dayOf(at));
  }

  private count(record: Counted, amount: 1 | -1): void {
    if (record.status === 'pending') return;
    this.days.count(daysOf(record), amount);
    if (holdsSeat(record)) this.waitlist.seatsTaken += amount;
    if (record.status === 'offered') {
      this.waitlist.offered += amount;
      if (record.referred) this.waitlist.referredOffered += amount;
      return;
    }
    const isActive = record.status === 'waiting';
    this.waitlist[isActive ? 'active' : 'offboarded'] += amount;
    if (record.referred) this.waitlist[isActive ? 'referredActive' : 'referredOffboarded'] += amount;
    this.counters.count(record, isActive, amount);
  }
}

/** Whether the record takes one of the seats of a release plan. */
export function holdsSeat({ status, removedReason }: Pick<StoredWaiter, 'status' | 'removedReason'>): boolean {
  return status === 'offered' || (status === 'offboarded' && removedReason === 'accepted');
}
