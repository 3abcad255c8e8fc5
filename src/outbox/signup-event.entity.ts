import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A `new_signup` that has no deliveries yet. The payload's other fields come from the record. */
@Entity('signup_event')
export class SignupEventEntity {
  @PrimaryColumn({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @PrimaryColumn({ name: 'waiter_uuid', type: 'varchar' })
  waiterUuid!: string;

  /** Its number among the events of the waitlist. */
  @Column({ type: 'bigint' })
  number!: number;

  /** The position of the record at the signup. */
  @Column({ type: 'bigint' })
  position!: number;

  /** The waitlist's page at the signup, to which the referral link leads. */
  @Column({ name: 'signup_page', type: 'varchar' })
  signupPage!: string;

  /** The waitlist's questions at the signup, without their options, as JSON. */
  @Column({ type: 'varchar' })
  questions!: string;

  /** The webhooks that want the event, at most ten. */
  @Column({ name: 'webhook_ids', type: 'simple-json' })
  webhookIds!: readonly number[];

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
