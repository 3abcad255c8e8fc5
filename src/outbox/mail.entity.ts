import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The kinds of mails in the order in which they are sent: first those that somebody waits for. `signup` is a welcome
 * that asks for a click too; `test` shows a member another kind.
 */
export const MAIL_KINDS = [
  'verification',
  'signup',
  'leave',
  'test',
  'offer',
  'webhook_disabled',
  'your_turn',
  'welcome',
  'offer_reminder',
] as const;

/** The mails to people that an owner can word, in the order of a record's life. */
export const WORDED_MAILS = ['verification', 'welcome', 'offer', 'your_turn'] as const;
export type WordedMail = (typeof WORDED_MAILS)[number];

/**
 * A mail to the person of a record or to a member. Holds no address: it is read when the mail is sent.
 */
@Entity('mail')
export class MailEntity {
  /** UUID v7. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /** Null for a mail to a member. */
  @Column({ name: 'waiter_uuid', type: 'varchar', nullable: true })
  waiterUuid!: string | null;

  /** The member whom the mail goes to; null for a mail to a person. */
  @Column({ name: 'member_id', type: 'varchar', nullable: true })
  memberId!: string | null;

  @Column({ name: 'webhook_id', type: 'bigint', nullable: true })
  webhookId!: number | null;

  @Column({ type: 'varchar' })
  kind!: (typeof MAIL_KINDS)[number];

  /** The kind that a `test` shows. */
  @Column({ type: 'varchar', nullable: true })
  tested!: WordedMail | null;

  /** Keyed hash of the folded mailbox; null if no bound counts it. */
  @Column({ name: 'mailbox_hash', type: 'varchar', nullable: true })
  mailboxHash!: string | null;

  /** Keyed hash of the network that sent the request for the mail; null if no bound counts it. */
  @Column({ name: 'network_hash', type: 'varchar', nullable: true })
  networkHash!: string | null;

  @Column({ type: 'varchar' })
  status!: 'pending' | 'sent' | 'failed' | 'dropped';

  @Column({ type: 'int' })
  attempts!: number;

  /** Null unless pending. During an attempt it is the end of the lease. */
  @Column({ name: 'next_attempt_at', type: 'datetime', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  /** The first attempt, by which bounds count the mail; null before it. */
  @Column({ name: 'attempted_at', type: 'datetime', precision: 3, nullable: true })
  attemptedAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
