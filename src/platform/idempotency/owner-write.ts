import { v7 as uuidV7 } from 'uuid';
import { NO_REQUEST, type Origin } from '../audit/audit-log.js';

/** Identifies a write and its repeats by the caller's `Idempotency-Key`. */
export interface RepeatKey {
  /** Hash of the account, the method, the path and the key. */
  readonly id: string;
  /** Hash of the body: a key stands for one body. */
  readonly bodyHash: string;
}

/** A write by an owner: its account, its origin, and the key that recognizes a repeat. */
export interface OwnerWrite extends Origin {
  /** UUID v7: the id of its audit event. */
  readonly id: string;
  readonly accountId: number;
  /** Null without an `Idempotency-Key`. */
  readonly key: RepeatKey | null;
  /** Called if the answer is that of an earlier write with the same key. */
  markReplayed(): void;
}

/** A write that no request of the account asked for: of the CLI, the first start, or a person who leaves. */
export function operatorWrite(accountId: number): OwnerWrite {
  return { ...NO_REQUEST, id: uuidV7(), accountId, key: null, markReplayed: () => undefined };
}
