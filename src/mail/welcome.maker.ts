import { Injectable } from '@nestjs/common';
import { MailStore } from '../outbox/mail.store.js';
import type { WelcomeMailEntity } from '../outbox/welcome-mail.entity.js';
import { WelcomeMailStore } from '../outbox/welcome-mail.store.js';
import { Database } from '../platform/database/database.js';
import { Sweeper } from '../platform/database/sweeper.js';
import { Turns } from '../platform/limits/turns.js';
import { PENDING_KEPT_MS } from '../queue/maintenance/pending-sweeper.js';
import { DueMailStore } from './due-mail.store.js';

/** Mails made in one transaction: a good mail server takes them within a second. */
const MADE_AT_ONCE = 100;
/** Rows deleted in one transaction. */
const SWEPT_AT_ONCE = 200;

/**
 * Makes the mails of welcomes: the next ones when the last ones have been tried. So a rush of signups, which has no
 * time for the indexes of mails, leaves short rows, and accounts take turns however many wait.
 */
@Injectable()
export class WelcomeMaker {
  private readonly turns = new Turns();

  constructor(
    private readonly database: Database,
    private readonly welcomes: WelcomeMailStore,
    private readonly mails: MailStore,
    private readonly due: DueMailStore,
    sweeper: Sweeper,
  ) {
    sweeper.addWork((isStopped) => this.sweep(isStopped));
  }

  /** Returns how many it took. People who are erased get none. */
  async makeSome(): Promise<number> {
    this.turns.add(await this.database.one(this.welcomes.findWaitlists()));
    if (this.turns.size === 0) return 0;
    const shares = [...this.turns.deal(MADE_AT_ONCE)];
    return this.database.pipelinedTransaction(async (session) => {
      const locked = await session.all(shares.map(([id, share]) => this.welcomes.lockFirst(id, share)));
      const taken = locked.flat();
      const recipients = await session.one(this.due.findRecipients(taken.map(({ waiterUuid }) => waiterUuid)));
      const at = new Date();
      const mailOf = ({ waiterUuid, networkHash: network }: WelcomeMailEntity) => {
        const emailKey = recipients.get(waiterUuid)?.emailKey;
        return emailKey ? [{ kind: 'welcome' as const, waiterUuid, emailKey, network, isBounded: true, at }] : [];
      };
      for (const [index, [id, share]] of shares.entries()) if (locked[index]!.length < share) this.turns.remove(id);
      await session.commit([
        ...shares.map(([id], index) => this.mails.insert(id, locked[index]!.flatMap(mailOf))),
        this.welcomes.delete(taken),
      ]);
      return taken.length;
    });
  }

  /** Deletes those that are as old as mails get, where no mail is sent any more. */
  private async sweep(isStopped: () => boolean): Promise<void> {
    const before = new Date(Date.now() - PENDING_KEPT_MS);
    const waitlists = await this.database.one(this.welcomes.findWaitlists());
    for (const { id } of waitlists.filter(({ since }) => since < before)) {
      let swept: readonly WelcomeMailEntity[];
      do {
        swept = await this.database.pipelinedTransaction(async (session) => {
          const old = (await session.one(this.welcomes.lockFirst(id, SWEPT_AT_ONCE))).filter(
            ({ createdAt }) => createdAt < before,
          );
          await session.commit([this.welcomes.delete(old)]);
          return old;
        });
      } while (swept.length > 0 && !isStopped());
    }
  }
}
