import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventName } from './webhook.entity.js';

/** Why an attempt had no response. The list may grow. */
export const FAILURES = [
  'dns',
  'blocked',
  'refused',
  'unreachable',
  'tls',
  'reset',
  'timeout',
  'protocol',
  'other',
] as const;
export type Failure = (typeof FAILURES)[number];

/** One event to send to one webhook. */
@Entity('delivery')
export class DeliveryEntity {
  /** The `webhook-id` of all attempts: a UUID v7. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'webhook_id', type: 'bigint' })
  webhookId!: number;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /** Rises with each event of the waitlist. 0 for a test. */
  @Column({ type: 'bigint' })
  number!: number;

  /** The record of the event. Events of one record are sent in order. Null for a test. */
  @Column({ name: 'waiter_uuid', type: 'varchar', nullable: true })
  waiterUuid!: string | null;

  @Column({ type: 'varchar' })
  event!: EventName | 'test';

  /** Null after the payload was deleted: it was old, or its person was erased. */
  @Column({ name: 'payload_id', type: 'varchar', nullable: true })
  payloadId!: string | null;

  @Column({ type: 'varchar' })
  status!: 'pending' | 'delivered' | 'failed';

  @Column({ type: 'int' })
  attempts!: number;

  /** The HTTP status of the last attempt; null without a response. */
  @Column({ name: 'last_status', type: 'int', nullable: true })
  lastStatus!: number | null;

  /** Why the last attempt had no response; null if it had one. */
  @Column({ name: 'last_failure', type: 'varchar', nullable: true })
  lastFailure!: Failure | null;

  /** Null unless pending. During an attempt, the end of the lease: the delivery is due again if its process died. */
  @Column({ name: 'next_attempt_at', type: 'datetime', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  /** When the payload is deleted; then, when the row is deleted. */
  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;
}
