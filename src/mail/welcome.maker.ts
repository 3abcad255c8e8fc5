import { Injectable } from '@nestjs/common';
import { MailStore } from '../outbox/mail.store.js';
import { WelcomeMailStore } from '../outbox/welcome-mail.store.js';
import { Database } from '../platform/database/database.js';
import { Turns } from '../platform/limits/turns.js';
import { DueMailStore } from './due-mail.store.js';

/** Mails made in one transaction: a good mail server takes them within a second. */
const MADE_AT_ONCE = 100;

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
  ) {}

  /** Returns how many it made. */
  async makeSome(): Promise<number> {
    this.turns.add(await this.database.one(this.welcomes.findWaitlists()));
    if (this.turns.size === 0) return 0;
    const shares = [...this.turns.deal(MADE_AT_ONCE)];
    return this.database.pipelinedTransaction(async (session) => {
      const locked = await session.all(shares.map(([id, share]) => this.welcomes.lockFirst(id, share)));
      const all = locked.flat();
      const recipients = await session.one(this.due.findRecipients(all.map(({ waiterUuid }) => waiterUuid)));
      const at = new Date();
      const changes = shares.flatMap(([id, share], index) => {
        const some = locked[index]!;
        if (some.length < share) this.turns.remove(id);
        const mails = some.flatMap(({ waiterUuid, networkHash: network }) => {
          const { emailKey, verified } = recipients.get(waiterUuid) ?? {};
          // Who typed the address of somebody verified does not matter any more.
          return emailKey
            ? [{ kind: 'welcome' as const, waiterUuid, emailKey, network, isBounded: !verified, at }]
            : [];
        });
        return [
          this.mails.insert(id, mails),
          this.welcomes.delete(
            id,
            some.map(({ waiterUuid }) => waiterUuid),
          ),
        ];
      });
      await session.commit(changes);
      return all.length;
    });
  }
}
