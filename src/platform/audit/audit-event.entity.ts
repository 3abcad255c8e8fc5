import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One write for an account, or one security event of it. Holds no contact data. */
@Entity('audit_event')
export class AuditEventEntity {
  /** UUID v7, so ids rise with time. For a write, the id of its command: a retry recognizes its own work by it. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  /**
   * The member who did it or, for a failed login and a forgotten password, whose email was given. Null for a key, the
   * command line and the service itself.
   */
  @Column({ name: 'member_id', type: 'varchar', nullable: true })
  memberId!: string | null;

  @Column({ type: 'varchar' })
  action!: string;

  @Column({ name: 'waitlist_id', type: 'bigint', nullable: true })
  waitlistId!: number | null;

  /** Null for a command of the CLI. */
  @Column({ name: 'request_id', type: 'varchar', nullable: true })
  requestId!: string | null;

  /** Keyed hash of the network address: shows that two events came from one address, but not which. */
  @Column({ name: 'address_hash', type: 'varchar', nullable: true })
  addressHash!: string | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
