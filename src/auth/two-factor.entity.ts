import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The second factor of a member, or the one that is being set up: `hasTwoFactor` of the member says which. */
@Entity('two_factor')
export class TwoFactorEntity {
  @PrimaryColumn({ name: 'member_id', type: 'varchar' })
  memberId!: string;

  /** In base 32, encrypted. */
  @Column({ name: 'sealed_secret', type: 'varchar' })
  sealedSecret!: string;

  /** That of the last accepted code, in periods since 1970; 0 before the first. No code of it or of before counts. */
  @Column({ name: 'last_step', type: 'bigint' })
  lastStep!: number;

  /** SHA-256 of the recovery codes that are left. They are random and long, so their hashes need no salt. */
  @Column({ name: 'recovery_hashes', type: 'simple-json' })
  recoveryHashes!: readonly string[];

  /** Wrong codes in a row, since the last lock. */
  @Column({ type: 'int' })
  failures!: number;

  /** Locks since the last accepted code. */
  @Column({ type: 'int' })
  locks!: number;

  /** No code is judged before. */
  @Column({ name: 'locked_until', type: 'datetime', precision: 3, nullable: true })
  lockedUntil!: Date | null;

  /** The id of the attempt that was accepted last, by which its retry after a lost answer to COMMIT knows it. */
  @Column({ name: 'accepted_by', type: 'varchar', nullable: true })
  acceptedBy!: string | null;
}
