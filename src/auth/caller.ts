import type { AccountKeyEntity } from '../account/account-key.entity.js';
import type { MemberEntity } from '../account/member.entity.js';
import type { Reach } from '../platform/reach.js';

/** A member who calls. */
export interface CallingMember extends Pick<MemberEntity, 'id' | 'role'> {
  /** Whether the account requires a second factor that this login was made without. */
  readonly lacksTwoFactor: boolean;
}

/** Whom a request speaks for: a member with a token, or a program with an account key. */
export interface Caller extends Reach {
  readonly accountUuid: string;
  /** Null with a key. */
  readonly member: CallingMember | null;
  /** Null with a token. */
  readonly key: Pick<AccountKeyEntity, 'id' | 'scope'> | null;
}
