import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * One refresh token of a family, the chain that began with a login. A pair of tokens is a pure function of this row, so a
 * retry gets the same pair again although no secret is stored.
 */
@Entity('refresh_token')
export class RefreshTokenEntity {
  /** The `jti` of the token. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'family_id', type: 'varchar' })
  familyId!: string;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  @Column({ name: 'issued_at', type: 'datetime', precision: 3 })
  issuedAt!: Date;

  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;

  /** A login ends here, however often it is renewed. */
  @Column({ name: 'family_expires_at', type: 'datetime', precision: 3 })
  familyExpiresAt!: Date;

  @Column({ name: 'used_at', type: 'datetime', precision: 3, nullable: true })
  usedAt!: Date | null;

  @Column({ name: 'successor_id', type: 'varchar', nullable: true })
  successorId!: string | null;

  @Column({ name: 'revoked_at', type: 'datetime', precision: 3, nullable: true })
  revokedAt!: Date | null;
}
