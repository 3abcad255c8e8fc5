import { Column, Entity, PrimaryColumn } from 'typeorm';
import { coded } from '../../platform/database/transformers.js';

/** An offer is open until it gets one of the other states. `withdrawn`: the person returned, or was erased. */
export const OFFER_STATES = ['open', 'accepted', 'declined', 'expired', 'withdrawn'] as const;
export type OfferState = (typeof OFFER_STATES)[number];

/** A seat that is kept for a person. The row is kept as long as the waitlist: the counters of days follow from it. */
@Entity('offer')
export class OfferEntity {
  /** UUID v7. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ name: 'waiter_uuid', type: 'varchar' })
  waiterUuid!: string;

  @Column({ type: 'tinyint', transformer: coded(OFFER_STATES) })
  state!: OfferState;

  /** SHA-256 of the code, in hexadecimal; null after the person was erased. */
  @Column({ name: 'code_hash', type: 'varchar', nullable: true })
  codeHash!: string | null;

  /** The code, encrypted, while the offer is open. */
  @Column({ name: 'sealed_code', type: 'varchar', nullable: true })
  sealedCode!: string | null;

  /** The number ahead when the offer was made. */
  @Column({ type: 'bigint' })
  priority!: number;

  /** How long it stays open from the beginning of its time; null if it never expires. */
  @Column({ type: 'int', nullable: true })
  hours!: number | null;

  @Column({ name: 'made_at', type: 'datetime', precision: 3 })
  madeAt!: Date;

  /** When a corrected email last restarted its time. */
  @Column({ name: 'renewed_at', type: 'datetime', precision: 3, nullable: true })
  renewedAt!: Date | null;

  /** Null before its time has begun, and if it never expires. */
  @Column({ name: 'expires_at', type: 'datetime', precision: 3, nullable: true })
  expiresAt!: Date | null;

  /** When the sweep begins or ends its time; null if there is nothing to do. */
  @Column({ name: 'due_at', type: 'datetime', precision: 3, nullable: true })
  dueAt!: Date | null;

  @Column({ name: 'accepted_at', type: 'datetime', precision: 3, nullable: true })
  acceptedAt!: Date | null;

  @Column({ name: 'ended_at', type: 'datetime', precision: 3, nullable: true })
  endedAt!: Date | null;

  /** The run of the release plan that made it; null for an offer by hand. */
  @Column({ name: 'run_id', type: 'varchar', nullable: true })
  runId!: string | null;
}
