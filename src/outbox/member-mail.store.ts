import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { Database } from '../platform/database/database.js';
import { placeholders, toSqlTime } from '../platform/database/dialect.js';
import { mapped, type Query, select, together, write } from '../platform/database/session.js';
import { Sweeper } from '../platform/database/sweeper.js';
import type { Table } from '../platform/database/table.js';
import { SealedColumns } from '../platform/secrets/sealed-columns.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { mailBoundKey } from '../fraud/mailbox.js';
import { MemberMailEntity, type MemberMailKind } from './member-mail.entity.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** For how long a mail is worth sending: where its link sets a password, for as long as that works. */
export const LINK_MS: Readonly<Record<MemberMailKind, number>> = {
  invitation: 7 * DAY_MS,
  password_reset: HOUR_MS,
  forgotten_password: HOUR_MS,
  two_factor_locked: DAY_MS,
};

/** Mails that owners start, to one mailbox and of one account. */
export const OWNER_MAILBOX_DAY_MAX = 5;
export const OWNER_ACCOUNT_DAY_MAX = 50;
/**
 * Mails of one kind that anybody starts, to one mailbox. They are counted apart, so that strangers use up no owner's
 * mails.
 */
export const STRANGERS_HOUR_MAX = 5;

/** No bound counts older mails, and no link in one works. */
const KEPT_MS = Math.max(DAY_MS, ...Object.values(LINK_MS));
/** Rows deleted in one transaction. */
const SWEEP_CHUNK = 1_000;

/** The member whom a mail goes to. */
export interface MailedMember {
  readonly id: string;
  readonly accountId: number;
  readonly emailKey: string;
}

/** Stores mails to members, in the transactions that cause them. */
@Injectable()
export class MemberMailStore {
  private readonly mails: Table<MemberMailEntity>;

  constructor(
    database: Database,
    private readonly secrets: Secrets,
    sealed: SealedColumns,
    sweeper: Sweeper,
  ) {
    this.mails = database.table(MemberMailEntity);
    sealed.add({ table: 'member_mail', id: 'id', column: 'sealed_link' });
    sweeper.add({
      table: 'member_mail',
      id: 'id',
      time: 'created_at',
      before: () => new Date(Date.now() - KEPT_MS),
      chunk: SWEEP_CHUNK,
    });
  }

  /** `url`: the address of the link. */
  insert(
    kind: MemberMailKind,
    { id: memberId, accountId, emailKey }: MailedMember,
    url: string,
    at: Date,
  ): Query<void> {
    const mail: MemberMailEntity = {
      id: uuidV7(),
      accountId,
      memberId,
      kind,
      sealedLink: this.secrets.seal(url),
      mailboxHash: this.hashOf(emailKey),
      status: 'pending',
      attempts: 0,
      nextAttemptAt: at,
      createdAt: at,
    };
    return this.mails.insert([mail]);
  }

  /** Whether the bounds allow a further mail of this kind. Exact under the lock of the account. */
  isAllowed(kind: MemberMailKind, { accountId, emailKey }: MailedMember, now: Date): Query<boolean> {
    const mailbox = { column: 'mailbox_hash', value: this.hashOf(emailKey) } as const;
    if (kind === 'forgotten_password' || kind === 'two_factor_locked')
      return mapped(this.count([kind], mailbox, now, HOUR_MS), (count) => count < STRANGERS_HOUR_MAX);
    const kinds = ['invitation', 'password_reset'] as const;
    const account = { column: 'account_id', value: accountId } as const;
    return mapped(
      together([this.count(kinds, mailbox, now, DAY_MS), this.count(kinds, account, now, DAY_MS)]),
      ([toMailbox, ofAccount]) => toMailbox < OWNER_MAILBOX_DAY_MAX && ofAccount < OWNER_ACCOUNT_DAY_MAX,
    );
  }

  /**
   * Drops the pending links of a member, or of all members of an account. Waits for a claim of the dispatcher. What
   * tells of wrong codes is still sent: anybody can end the links of a member by asking for a new password.
   */
  drop(of: { readonly id: string } | { readonly accountId: number }): Query<void> {
    const [column, value] = 'id' in of ? ['member_id', of.id] : ['account_id', of.accountId];
    return write(
      `UPDATE member_mail SET status = 'dropped', sealed_link = NULL, next_attempt_at = NULL
       WHERE ${column} = ? AND status = 'pending' AND kind <> 'two_factor_locked'`,
      [value],
    );
  }

  private count(
    kinds: readonly MemberMailKind[],
    { column, value }: { readonly column: 'mailbox_hash' | 'account_id'; readonly value: string | number },
    now: Date,
    ms: number,
  ): Query<number> {
    return select<{ total: unknown }, number>(
      `SELECT COUNT(*) AS total FROM member_mail
       WHERE ${column} = ? AND created_at > ? AND kind IN (${placeholders(kinds.length)})`,
      [value, toSqlTime(new Date(now.getTime() - ms)), ...kinds],
      ([row]) => Number(row?.total),
    );
  }

  /** The keyed hash by which the bounds count the mails to a mailbox. */
  private hashOf(emailKey: string): string {
    return this.secrets.hash('mailbox', mailBoundKey(emailKey));
  }
}
