import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * `password_reset` is started by an owner, `forgotten_password` by anybody. `two_factor_locked` tells a member that
 * somebody sent many wrong codes with the right password.
 */
export const MEMBER_MAIL_KINDS = ['invitation', 'password_reset', 'forgotten_password', 'two_factor_locked'] as const;
export type MemberMailKind = (typeof MEMBER_MAIL_KINDS)[number];

/** A mail with a link to a member. Holds no address: it is read when the mail is sent. */
@Entity('member_mail')
export class MemberMailEntity {
  /** UUID v7. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  @Column({ name: 'member_id', type: 'varchar' })
  memberId!: string;

  @Column({ type: 'varchar' })
  kind!: MemberMailKind;

  /** The address of the link, encrypted. Null unless pending. */
  @Column({ name: 'sealed_link', type: 'varchar', nullable: true })
  sealedLink!: string | null;

  /** Keyed hash of the folded mailbox, by which bounds count the mail. */
  @Column({ name: 'mailbox_hash', type: 'varchar' })
  mailboxHash!: string;

  @Column({ type: 'varchar' })
  status!: 'pending' | 'sent' | 'failed' | 'dropped';

  @Column({ type: 'int' })
  attempts!: number;

  /** Null unless pending. During an attempt it is the end of the lease. */
  @Column({ name: 'next_attempt_at', type: 'datetime', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
