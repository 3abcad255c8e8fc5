import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The body of an event's messages: stored once, however many webhooks want it. */
@Entity('payload')
export class PayloadEntity {
  /** A UUID v7. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /** The record of the event; null for a test. */
  @Column({ name: 'waiter_uuid', type: 'varchar', nullable: true })
  waiterUuid!: string | null;

  /** JSON, as it is sent. */
  @Column({ type: 'varchar' })
  body!: string;

  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;
}
