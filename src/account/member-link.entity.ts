import { Column, Entity, PrimaryColumn } from 'typeorm';

export type MemberLinkKind = 'invitation' | 'password_reset';

/** A link by which a member sets a password, once. A used or ended link has no row. */
@Entity('member_link')
export class MemberLinkEntity {
  /** SHA-256 of the token, in hexadecimal: the token is random, so it needs no slow hash. */
  @PrimaryColumn({ name: 'token_hash', type: 'varchar' })
  tokenHash!: string;

  @Column({ name: 'member_id', type: 'varchar' })
  memberId!: string;

  @Column({ type: 'varchar' })
  kind!: MemberLinkKind;

  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;
}
