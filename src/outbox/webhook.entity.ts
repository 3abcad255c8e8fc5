import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** The events that a webhook can subscribe to, in the order of a record's life. */
export const EVENTS = [
  'new_signup',
  'verified_signup',
  'referral_credited',
  'offboarded_signup',
  'offered_signup',
  'declined_offer',
  'expired_offer',
  'returned_signup',
  'erased_signup',
] as const;
export type EventName = (typeof EVENTS)[number];

/** A URL of an owner, to which the events of a waitlist are posted. */
@Entity('webhook')
export class WebhookEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ type: 'varchar' })
  url!: string;

  /** The events that are sent; all if empty. */
  @Column({ type: 'simple-json' })
  events!: readonly EventName[];

  @Column({ name: 'is_active', type: 'boolean' })
  isActive!: boolean;

  /** The secret, encrypted by `Secrets`. */
  @Column({ name: 'sealed_secret', type: 'varchar' })
  sealedSecret!: string;

  /** The previous secret. Messages are signed with both until `oldSecretUntil`. */
  @Column({ name: 'sealed_old_secret', type: 'varchar', nullable: true })
  sealedOldSecret!: string | null;

  @Column({ name: 'old_secret_until', type: 'datetime', precision: 3, nullable: true })
  oldSecretUntil!: Date | null;

  /** The first failure since the last success; null if there is none. */
  @Column({ name: 'failing_since', type: 'datetime', precision: 3, nullable: true })
  failingSince!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
