import { v7 as uuidV7 } from 'uuid';
import { NO_REQUEST, type Origin } from '../audit/audit-log.js';
import { allOf, type Reach } from '../reach.js';

/** Identifies a write and its repeats by the caller's `Idempotency-Key`. */
export interface RepeatKey {
  /** Hash of the account, the method, the path and the key. */
  readonly id: string;
  /** Hash of the body: a key stands for one body. */
  readonly bodyHash: string;
}

/** A write for an account: what its caller reaches, its origin, and the key that recognizes a repeat. */
export interface AccountWrite extends Origin, Reach {
  /** UUID v7: the id of its audit event. */
  readonly id: string;
  /** The id of the account key that called; null for a member, and for {@link operatorWrite}. */
  readonly keyId: number | null;
  /** Null without an `Idempotency-Key`. */
  readonly key: RepeatKey | null;
  /** Called if the answer is that of an earlier write with the same key. */
  markReplayed(): void;
}

/** A write that no member or key asked for: by the CLI, the first start, a planned run or a sweep. */
export function operatorWrite(accountId: number): AccountWrite {
  return { ...NO_REQUEST, ...allOf(accountId), id: uuidV7(), keyId: null, key: null, markReplayed: () => undefined };
}

/** The write of a visitor. Without the hash of their IP address: its event stays when they are erased. */
export function visitorWrite(accountId: number, requestId: string): AccountWrite {
  return { ...operatorWrite(accountId), requestId };
}
