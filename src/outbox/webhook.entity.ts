import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** In the order in which events of one moment are sent. */
export const EVENTS = [
  'new_signup',
  'verified_signup',
  'referral_credited',
  'offboarded_signup',
  'erased_signup',
] as const;
export type EventName = (typeof EVENTS)[number];

/** An address of the owner's that is told of events. */
@Entity('webhook')
export class WebhookEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ type: 'varchar' })
  url!: string;

  /** The events that it is told of; empty for all. */
  @Column({ type: 'simple-json' })
  events!: readonly EventName[];

  @Column({ name: 'is_active', type: 'boolean' })
  isActive!: boolean;

  /** Encrypted. */
  @Column({ name: 'sealed_secret', type: 'varchar' })
  sealedSecret!: string;

  /** The secret before, which signs along until `oldSecretUntil`. */
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
