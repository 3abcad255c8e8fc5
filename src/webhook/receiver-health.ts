/** A receiver of messages: a webhook, and the account that owns it. */
export interface Receiver {
  readonly id: number;
  readonly accountId: number;
}

/** An attempt under way. */
export interface Slot {
  readonly receiver: Receiver;
  readonly isProven: boolean;
}

/** Attempts under way to one receiver. */
const PER_RECEIVER = { proven: 8, unproven: 2 };
/** Attempts under way in this process. Unproven receivers share the second number; the rest is for the others. */
const PER_PROCESS = { all: 256, unproven: 128 };
/** An attempt that takes longer counts as a failed one here. */
const SLOW_MS = 2_000;
/** How long a receiver stays unproven after an attempt that failed or was slow: one fast response proves little. */
const UNPROVEN_MS = 60_000;
/** What is known of a receiver is forgotten after this time without an attempt: deleted webhooks leave nothing. */
const KEPT_MS = 3_600_000;

interface Known {
  readonly isProven: boolean;
  readonly unprovenUntilMs: number;
  /** Why it fails; null after a success at least {@link UNPROVEN_MS} after the last failure. */
  readonly problem: string | null;
  readonly problemUntilMs: number;
  readonly triedAtMs: number;
}

const NEW: Known = { isProven: false, unprovenUntilMs: 0, problem: null, problemUntilMs: 0, triedAtMs: 0 };

/**
 * Which receivers may get further attempts, as far as this process knows. A fast response proves a receiver, until it
 * fails or is slow. An account may begin another attempt while it has fewer under way than slots are free: alone it
 * takes half of them, and however many slow receivers it has, another account finds free ones.
 */
export class ReceiverHealth {
  /** In the order of their last attempts. */
  private readonly known = new Map<number, Known>();
  /** Attempts under way, by receiver and by account. */
  private readonly receivers = new Map<number, number>();
  private readonly accounts = new Map<number, number>();
  private readonly unprovenAccounts = new Map<number, number>();
  private all = 0;
  private unproven = 0;

  /** How many receivers are remembered. */
  get size(): number {
    return this.known.size;
  }

  /** How many more attempts to this receiver may begin now. */
  freeSlots({ id, accountId }: Receiver): number {
    const { isProven } = this.of(id);
    const own = PER_RECEIVER[isProven ? 'proven' : 'unproven'] - countOf(this.receivers, id);
    const share = shareOf(PER_PROCESS.all - this.all, countOf(this.accounts, accountId));
    if (isProven) return Math.max(0, Math.min(own, share));
    const unprovenShare = shareOf(PER_PROCESS.unproven - this.unproven, countOf(this.unprovenAccounts, accountId));
    return Math.max(0, Math.min(own, share, unprovenShare));
  }

  begin(receiver: Receiver): Slot {
    const slot = { receiver, isProven: this.of(receiver.id).isProven };
    this.count(slot, 1);
    return slot;
  }

  /** Frees the slot of an attempt. */
  end(slot: Slot): void {
    this.count(slot, -1);
  }

  /** Why the receiver fails, as `record` got it; null once it works again, and if nothing is known. */
  problemOf(id: number): string | null {
    return this.of(id).problem;
  }

  /** Notes the result of an attempt: `problem` is null for a success. */
  record(id: number, problem: string | null, durationMs: number, nowMs: number): void {
    const isFast = problem === null && durationMs <= SLOW_MS;
    const before = this.of(id);
    const unprovenUntilMs = isFast ? before.unprovenUntilMs : nowMs + UNPROVEN_MS;
    const isProven = isFast && nowMs >= unprovenUntilMs;
    this.known.delete(id);
    this.known.set(id, {
      isProven,
      unprovenUntilMs,
      problem: problem ?? (nowMs >= before.problemUntilMs ? null : before.problem),
      problemUntilMs: problem === null ? before.problemUntilMs : nowMs + UNPROVEN_MS,
      triedAtMs: nowMs,
    });
    for (const [old, { triedAtMs }] of this.known) {
      if (triedAtMs + KEPT_MS > nowMs) break;
      this.known.delete(old);
    }
  }

  private of(id: number): Known {
    return this.known.get(id) ?? NEW;
  }

  private count({ receiver: { id, accountId }, isProven }: Slot, change: 1 | -1): void {
    this.all += change;
    add(this.receivers, id, change);
    add(this.accounts, accountId, change);
    if (isProven) return;
    this.unproven += change;
    add(this.unprovenAccounts, accountId, change);
  }
}

/**
 * How many more attempts an account may begin. Each needs more free slots than the account has attempts under way, and
 * takes one slot, so the difference shrinks by two.
 */
function shareOf(free: number, underWay: number): number {
  return Math.ceil((free - underWay) / 2);
}

function countOf(counts: ReadonlyMap<number, number>, key: number): number {
  return counts.get(key) ?? 0;
}

function add(counts: Map<number, number>, key: number, change: number): void {
  const count = countOf(counts, key) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
