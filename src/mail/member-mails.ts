import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Query } from '../platform/database/session.js';
import { Secrets } from '../platform/secrets/secrets.js';
import type { MemberMailEntity } from '../outbox/member-mail.entity.js';
import { LINK_MS } from '../outbox/member-mail.store.js';
import { DueMemberMailStore } from './due-member-mail.store.js';
import type { Content, LeaveFooter } from './mail-layout.js';
import { type AddressedMember, linkMail } from './mail-texts.js';
import { LEASE_MS } from './mail.sender.js';

/** How an attempt changes its mail: it is over, or is repeated. */
export type Outcome =
  { readonly status: 'sent' | 'failed'; readonly nextAttemptAt: null } | { readonly nextAttemptAt: Date };

/** A mail that this process alone sends, until its lease ends. */
export interface Attempt {
  readonly id: string;
  readonly to: string;
  /** With this one. */
  readonly attempts: number;
  /** What the log may say of the mail. */
  readonly about: object;
  readonly compose: () => Promise<{ readonly content: Content; readonly footer: LeaveFooter | null }>;
  /** Called when the server has taken the mail, with that moment; repeated until it succeeds. */
  readonly begin?: ((at: Date) => Promise<unknown>) | undefined;
  readonly settle: (outcome: Outcome) => Query<void>;
  /** Undoes the claim: an attempt does not count while the server is unavailable. */
  readonly release: () => Query<void>;
}

/** The mails to members with links. Their bounds hold when they are stored. */
@Injectable()
export class MemberMails {
  constructor(
    private readonly database: Database,
    private readonly mails: DueMemberMailStore,
    private readonly secrets: Secrets,
  ) {}

  /** Leases at most `limit` due mails to this process. Drops those whose link has expired. */
  async claim(limit: number): Promise<Attempt[]> {
    return this.database.pipelinedTransaction(async (session) => {
      const now = new Date();
      const ids = await session.one(this.mails.findDue(now, limit));
      const [due, addressed] = await session.all([this.mails.lockDue(ids, now), this.mails.findAddressed(ids)]);
      const attempts: Attempt[] = [];
      const changes: Query<unknown>[] = [];
      for (const mail of due) {
        const member = addressed.get(mail.id);
        const url = mail.sealedLink && this.secrets.open(mail.sealedLink);
        const isExpired = mail.createdAt.getTime() + LINK_MS[mail.kind] <= now.getTime();
        if (!member || !url || isExpired) {
          changes.push(this.mails.change(mail.id, { status: 'dropped', nextAttemptAt: null, sealedLink: null }));
          continue;
        }
        const lease = { attempts: mail.attempts + 1, nextAttemptAt: new Date(now.getTime() + LEASE_MS) };
        changes.push(this.mails.change(mail.id, lease));
        attempts.push(this.attemptOf(mail, { ...mail, ...lease }, member, url));
      }
      await session.commit(changes);
      return attempts;
    });
  }

  private attemptOf(
    unclaimed: MemberMailEntity,
    mail: MemberMailEntity,
    member: AddressedMember,
    url: string,
  ): Attempt {
    const { id, accountId, kind, attempts } = mail;
    return {
      id,
      to: member.email,
      attempts,
      about: { kind, accountId },
      compose: () => Promise.resolve({ content: linkMail(kind, member, url), footer: null }),
      settle: (outcome) =>
        this.mails.settle(mail, { ...outcome, ...(outcome.nextAttemptAt === null && { sealedLink: null }) }),
      release: () => this.mails.settle(mail, { attempts: unclaimed.attempts, nextAttemptAt: unclaimed.nextAttemptAt }),
    };
  }
}
