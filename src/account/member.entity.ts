import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Config } from '../platform/config/config.js';

/** Each may do all that the ones before it may. */
export const ROLES = ['viewer', 'editor', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export const MEMBER_STATUSES = ['invited', 'active', 'disabled'] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

/** How a member can log in. */
export const SIGN_INS = ['password', 'sso'] as const;
export type SignIn = (typeof SIGN_INS)[number];

/** Somebody who logs in to an account. A removed member has no row. */
@Entity('member')
export class MemberEntity {
  /** UUID v7. The first member of an account of before has the account's uuid. */
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  @Column({ type: 'varchar' })
  email!: string;

  /** The normal form of the email, which no other member of the service has. */
  @Column({ name: 'email_key', type: 'varchar' })
  emailKey!: string;

  @Column({ type: 'varchar', nullable: true })
  name!: string | null;

  @Column({ type: 'varchar' })
  role!: Role;

  /** Null without a password, which nothing matches. */
  @Column({ name: 'password_hash', type: 'varchar', nullable: true })
  passwordHash!: string | null;

  /** Whether a login by password needs a code too. One that is being set up counts only once it is confirmed. */
  @Column({ name: 'has_two_factor', type: 'boolean' })
  hasTwoFactor!: boolean;

  /** The provider of single sign-on that knows the member, and its name for the member; null without an identity. */
  @Column({ name: 'sso_issuer', type: 'varchar', nullable: true })
  ssoIssuer!: string | null;

  @Column({ name: 'sso_subject', type: 'varchar', nullable: true })
  ssoSubject!: string | null;

  /** Copied into each login. Incrementing it ends all earlier logins in one write. */
  @Column({ name: 'token_version', type: 'int' })
  tokenVersion!: number;

  /** Null for an invitation that was not accepted. */
  @Column({ name: 'joined_at', type: 'datetime', precision: 3, nullable: true })
  joinedAt!: Date | null;

  @Column({ name: 'disabled_at', type: 'datetime', precision: 3, nullable: true })
  disabledAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'last_login_at', type: 'datetime', precision: 3, nullable: true })
  lastLoginAt!: Date | null;
}

/** Of a member `m`, as {@link statusOf} finds `active`. */
export const IS_ACTIVE = 'm.joined_at IS NOT NULL AND m.disabled_at IS NULL';

/** A member who has not joined yet and cannot log in. */
export function newMember(
  given: Pick<MemberEntity, 'id' | 'accountId' | 'email' | 'emailKey' | 'role' | 'createdAt'>,
): MemberEntity {
  return {
    ...given,
    name: null,
    passwordHash: null,
    hasTwoFactor: false,
    ssoIssuer: null,
    ssoSubject: null,
    tokenVersion: 0,
    joinedAt: null,
    disabledAt: null,
    lastLoginAt: null,
  };
}

export function statusOf({ joinedAt, disabledAt }: Pick<MemberEntity, 'joinedAt' | 'disabledAt'>): MemberStatus {
  if (disabledAt) return 'disabled';
  return joinedAt ? 'active' : 'invited';
}

/** The ways in which a member can log in, by what they have and what the settings allow. */
export function signInsOf(
  { passwordHash, ssoIssuer }: Pick<MemberEntity, 'passwordHash' | 'ssoIssuer'>,
  { passwordLogin, sso }: Pick<Config, 'passwordLogin' | 'sso'>,
): SignIn[] {
  const isOpen = { password: passwordLogin && passwordHash !== null, sso: sso !== null && ssoIssuer === sso.issuer };
  return SIGN_INS.filter((way) => isOpen[way]);
}

/** Whether a member with this role may do what needs `needed`. */
export function suffices(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
