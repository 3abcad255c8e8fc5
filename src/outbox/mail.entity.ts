import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A mail to the person of a record. It holds no address: the record has it when the mail is sent. */
@Entity('mail')
export class MailEntity {
  /** UUID v7. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ name: 'waiter_uuid', type: 'varchar' })
  waiterUuid!: string;

  @Column({ type: 'varchar' })
  kind!: 'verification' | 'your_turn';

  /** Keyed hash of the folded mailbox, for the bounds of mails. */
  @Column({ name: 'mailbox_hash', type: 'varchar' })
  mailboxHash!: string;

  /** Keyed hash of the network that caused it; null if no bound counts it. */
  @Column({ name: 'network_hash', type: 'varchar', nullable: true })
  networkHash!: string | null;

  @Column({ type: 'varchar' })
  status!: 'pending' | 'sent' | 'failed' | 'dropped';

  @Column({ type: 'int' })
  attempts!: number;

  @Column({ name: 'next_attempt_at', type: 'datetime', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'sent_at', type: 'datetime', precision: 3, nullable: true })
  sentAt!: Date | null;
}
