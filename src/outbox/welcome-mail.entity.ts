import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A welcome that is no mail yet. A signup writes this short row, and mails are made as fast as they can be sent. */
@Entity('welcome_mail')
export class WelcomeMailEntity {
  @PrimaryColumn({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /** UUIDs of version 7 sort by time, almost. */
  @PrimaryColumn({ name: 'waiter_uuid', type: 'varchar' })
  waiterUuid!: string;

  /** Keyed hash of the network that sent the signup; null if no bound counts it. */
  @Column({ name: 'network_hash', type: 'varchar', nullable: true })
  networkHash!: string | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
