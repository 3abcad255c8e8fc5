import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventName } from './webhook.entity.js';

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

  /** The order of the events of a waitlist. */
  @Column({ type: 'bigint' })
  number!: number;

  /** The record that the payload shows, whose events are sent in their order; null for a test. */
  @Column({ name: 'waiter_uuid', type: 'varchar', nullable: true })
  waiterUuid!: string | null;

  @Column({ type: 'varchar' })
  event!: EventName | 'test';

  /** Null once the payload was deleted, because it is old or its person was erased. */
  @Column({ name: 'payload_id', type: 'varchar', nullable: true })
  payloadId!: string | null;

  @Column({ type: 'varchar' })
  status!: 'pending' | 'delivered' | 'failed';

  @Column({ type: 'int' })
  attempts!: number;

  /** The HTTP status of the last attempt; null without an answer. */
  @Column({ name: 'last_status', type: 'int', nullable: true })
  lastStatus!: number | null;

  /** Of a pending delivery; while an attempt is under way, when it is repeated if its process dies. */
  @Column({ name: 'next_attempt_at', type: 'datetime', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  /** When the payload is deleted; once it is, when the row is. */
  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;
}
