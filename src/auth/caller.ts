import type { AccountKeyEntity } from '../account/account-key.entity.js';
import type { MemberEntity } from '../account/member.entity.js';
import type { Reach } from '../platform/reach.js';

/** Whom a request speaks for: a member with a token, or a program with an account key. */
export interface Caller extends Reach {
  readonly accountUuid: string;
  /** Null with a key. */
  readonly member: Pick<MemberEntity, 'id' | 'role'> | null;
  /** Null with a token. */
  readonly key: Pick<AccountKeyEntity, 'id' | 'scope'> | null;
}
