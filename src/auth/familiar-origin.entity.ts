import { Column, Entity, PrimaryColumn } from 'typeorm';

/** That an account logged in from a network. Which of either is not told: an address is personal data. */
@Entity('familiar_origin')
export class FamiliarOriginEntity {
  /** A keyed hash of the account's email and the network. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'seen_at', type: 'datetime', precision: 3 })
  seenAt!: Date;
}
