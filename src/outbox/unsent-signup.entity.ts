import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A `new_signup` whose deliveries are not made yet. */
@Entity('unsent_signup')
export class UnsentSignupEntity {
  @PrimaryColumn({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @PrimaryColumn({ name: 'waiter_uuid', type: 'varchar' })
  waiterUuid!: string;

  /** Its number among the events of the waitlist. */
  @Column({ type: 'bigint' })
  number!: number;

  /** The position of the record at the signup. The rest of the payload is read from the record. */
  @Column({ type: 'bigint' })
  priority!: number;

  /** The webhooks that want the event. */
  @Column({ name: 'webhook_ids', type: 'simple-json' })
  webhookIds!: readonly number[];

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
