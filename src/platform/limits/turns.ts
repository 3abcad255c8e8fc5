/** Something of an account that has work waiting, such as a waitlist with due mails. */
export interface Contender {
  readonly id: number;
  readonly accountId: number;
}

/**
 * Decides whose work is next. Accounts take turns, and so do the waitlists or webhooks of an account: a rush on one
 * delays the others by a turn at most, not by its backlog. Each process takes turns by itself.
 */
export class Turns {
  /** Accounts in the order of their turns; each has its waiting ids, also in the order of their turns. */
  private accounts = new Map<number, Set<number>>();
  /** The account of each id that waits. */
  private readonly accountOf = new Map<number, number>();

  get size(): number {
    return this.accountOf.size;
  }

  has(id: number): boolean {
    return this.accountOf.has(id);
  }

  /** An account that is new is next: it waits for no backlog. */
  add(waiting: readonly Contender[]): void {
    const added = new Map<number, Set<number>>();
    for (const { id, accountId } of waiting) {
      const ids = this.accounts.get(accountId) ?? added.get(accountId) ?? new Set();
      if (!this.accounts.has(accountId)) added.set(accountId, ids);
      ids.add(id);
      this.accountOf.set(id, accountId);
    }
    if (added.size > 0) this.accounts = new Map([...added, ...this.accounts]);
  }

  /** The account keeps its place for a round: work that comes piece by piece does not always go first. */
  remove(id: number): void {
    this.accounts.get(this.accountOf.get(id) ?? 0)?.delete(id);
    this.accountOf.delete(id);
  }

  /** Takes the next turn of those that are ready; undefined if none is. The others keep their places. */
  next(isReady: (waiting: Contender) => boolean = () => true): Contender | undefined {
    for (const [accountId, ids] of this.accounts) {
      if (ids.size === 0) this.accounts.delete(accountId);
      for (const id of ids) {
        if (!isReady({ id, accountId })) continue;
        this.accounts.delete(accountId);
        this.accounts.set(accountId, ids);
        ids.delete(id);
        ids.add(id);
        return { id, accountId };
      }
    }
    return undefined;
  }

  /** Takes the next `count` turns. Returns how many turns each id got, assuming that every id has enough work. */
  deal(count: number): ReadonlyMap<number, number> {
    const dealt = new Map<number, number>();
    for (let left = count; left > 0; left -= 1) {
      const turn = this.next();
      if (!turn) break;
      dealt.set(turn.id, (dealt.get(turn.id) ?? 0) + 1);
    }
    return dealt;
  }
}
