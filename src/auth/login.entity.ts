import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SignIn } from '../account/member.entity.js';

/**
 * A login: one row, however often it is refreshed. Its current pair of tokens is a pure function of this row, so a
 * retry gets the same pair again although no secret is stored.
 */
@Entity('login')
export class LoginEntity {
  /** Its tokens carry it as `sid`. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'member_id', type: 'varchar' })
  memberId!: string;

  /** That of the member at the login. The login has ended if the member has another one. */
  @Column({ name: 'token_version', type: 'int' })
  tokenVersion!: number;

  /** How it was made. */
  @Column({ type: 'varchar' })
  method!: SignIn;

  /** Hash of the token with which its browser may go to the provider once, to link the member's identity there. */
  @Column({ name: 'link_hash', type: 'varchar', nullable: true })
  linkHash!: string | null;

  @Column({ name: 'link_expires_at', type: 'datetime', precision: 3, nullable: true })
  linkExpiresAt!: Date | null;

  /** The `jti` of the refresh token that has not been used. */
  @Column({ name: 'current_jti', type: 'varchar' })
  currentJti!: string;

  /** The `jti` of the refresh token that was used last. */
  @Column({ name: 'previous_jti', type: 'varchar', nullable: true })
  previousJti!: string | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  /** The browser and the system that it was made with, as "Firefox on macOS"; null where unknown. */
  @Column({ type: 'varchar', nullable: true })
  client!: string | null;

  /** When the current pair was issued. */
  @Column({ name: 'last_used_at', type: 'datetime', precision: 3 })
  lastUsedAt!: Date;

  @Column({ name: 'revoked_at', type: 'datetime', precision: 3, nullable: true })
  revokedAt!: Date | null;

  /** The login ends here, however often it is refreshed. */
  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;
}
