/** A waitlist that has due mails of a kind. */
export interface WaitingWaitlist {
  readonly id: number;
  readonly accountId: number;
}

/**
 * Decides which mails are next. Accounts take turns, and so do the waitlists of an account: a rush on one waitlist
 * delays the mails of others by a turn at most, not by its backlog. Each process takes turns by itself.
 */
export class MailTurns {
  /** The accounts in the order of their turns, each with its waitlists in theirs. */
  private accounts = new Map<number, Set<number>>();

  get hasWaiting(): boolean {
    return [...this.accounts.values()].some(({ size }) => size > 0);
  }

  /** Adds waitlists. An account that is new is next: its mail waits for no backlog. */
  add(waiting: readonly WaitingWaitlist[]): void {
    const added = new Map<number, Set<number>>();
    for (const { id, accountId } of waiting) {
      const waitlists = this.accounts.get(accountId) ?? added.get(accountId) ?? new Set();
      if (!this.accounts.has(accountId)) added.set(accountId, waitlists);
      waitlists.add(id);
    }
    if (added.size > 0) this.accounts = new Map([...added, ...this.accounts]);
  }

  /** Removes a waitlist. Its account keeps its place for a round: mails that come one by one do not always go first. */
  remove(id: number): void {
    for (const waitlists of this.accounts.values()) waitlists.delete(id);
  }

  /** Divides the next `count` turns among the waitlists. Returns the number of each by id, as if none ran out. */
  deal(count: number): ReadonlyMap<number, number> {
    const dealt = new Map<number, number>();
    let left = count;
    // The loop also visits accounts that it puts back at the end.
    for (const [accountId, waitlists] of this.accounts) {
      if (left === 0) break;
      this.accounts.delete(accountId);
      const [id] = waitlists;
      if (id === undefined) continue;
      this.accounts.set(accountId, waitlists);
      waitlists.delete(id);
      waitlists.add(id);
      dealt.set(id, (dealt.get(id) ?? 0) + 1);
      left -= 1;
    }
    return dealt;
  }
}
