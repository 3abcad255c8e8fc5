import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A write that succeeded with an `Idempotency-Key`. The answer is made again from this row and the people that the
 * command's audit event names.
 */
@Entity('idempotency_key')
export class IdempotencyKeyEntity {
  /** Hash of the account, the method, the path and the key. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'body_hash', type: 'varchar' })
  bodyHash!: string;

  @Column({ name: 'command_id', type: 'varchar' })
  commandId!: string;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  @Column({ name: 'waitlist_id', type: 'bigint', nullable: true })
  waitlistId!: number | null;

  /** The numbers of the answer that change with time. */
  @Column({ type: 'simple-json' })
  counts!: Readonly<Record<string, number>>;

  /** The whole answer, encrypted; only of an answer with a new secret, which cannot be made again. */
  @Column({ name: 'sealed_answer', type: 'varchar', nullable: true })
  sealedAnswer!: string | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
