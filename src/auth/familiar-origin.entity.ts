import { Column, Entity, PrimaryColumn } from 'typeorm';

/** That an account, or anyone at all, logged in from an address. Which of either is not told: both are personal data. */
@Entity('familiar_origin')
export class FamiliarOriginEntity {
  /** A keyed hash of the account's email and the address, or of the address alone. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'seen_at', type: 'datetime', precision: 3 })
  seenAt!: Date;
}
