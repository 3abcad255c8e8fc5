import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A write that succeeded with an `Idempotency-Key`. A repeat is answered from this row and from the `uuids` of the
 * command's audit event.
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

  /** The numbers of the answer that change with time. */
  @Column({ type: 'simple-json' })
  counts!: Readonly<Record<string, number>>;

  /** The whole answer, encrypted. Only if it cannot be made again from the records; otherwise null. */
  @Column({ name: 'sealed_answer', type: 'varchar', nullable: true })
  sealedAnswer!: string | null;

  /** The one member or key that may get the answer again, because it holds a new secret; null for any caller. */
  @Column({ type: 'varchar', nullable: true })
  holder!: string | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
