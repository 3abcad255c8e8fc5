import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { AuditAction } from '../audit/audit-record.js';
import { Database } from '../database/database.js';
import { isDuplicateKey } from '../database/database-error.js';
import { type Query, select, type Session, together } from '../database/session.js';
import { Sweeper } from '../database/sweeper.js';
import type { Row, Table } from '../database/table.js';
import { Problem } from '../problems/problem.js';
import { SealedColumns } from '../secrets/sealed-columns.js';
import { Secrets } from '../secrets/secrets.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import type { AccountWrite, RepeatKey } from './account-write.js';

/** A repeat gets the first answer again for at least this long: old keys are deleted once a minute. */
const KEPT_MS = 24 * 3_600_000;
const SWEEP_CHUNK = 500;

/** What the transaction of a write stores about it. */
export interface WriteRecord {
  readonly action: AuditAction;
  /** Null for a write that concerns the account. */
  readonly waitlistId: number | null;
  /** The people that it changed, in the order of the answer. */
  readonly uuids?: readonly string[];
  /** The numbers of the answer that change with time. */
  readonly counts?: Readonly<Record<string, number>>;
  /** The answer, if it cannot be made again from the records. It is stored encrypted. */
  readonly wholeAnswer?: object;
  /** Whether `wholeAnswer` holds a new secret: only the member or key that got it may get it again. */
  readonly isSecret?: boolean;
}

/** The stored part of a write, from which a repeat is answered. */
export interface DoneWrite {
  readonly uuids: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Null for an answer that is made from the records. */
  readonly wholeAnswer: unknown;
}

/**
 * Writes of accounts. Each leaves an audit event in its transaction; with an `Idempotency-Key`, also the answer to a
 * repeat.
 */
@Injectable()
export class AccountWriteService {
  private readonly keys: Table<IdempotencyKeyEntity>;
  /** Keys whose write is under way here. A second process waits at the primary key for the first one's commit. */
  private readonly running = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
    private readonly secrets: Secrets,
    sweeper: Sweeper,
    sealed: SealedColumns,
  ) {
    this.keys = database.table(IdempotencyKeyEntity);
    sweeper.add({
      table: 'idempotency_key',
      id: 'id',
      time: 'created_at',
      before: () => new Date(Date.now() - KEPT_MS),
      chunk: SWEEP_CHUNK,
    });
    sealed.add({ table: 'idempotency_key', id: 'id', column: 'sealed_answer' });
  }

  /**
   * Carries out a write. If one with the same key was carried out before, answers with its `replay` instead.
   * @throws Problem `IDEMPOTENCY_KEY_IN_USE` while the first is under way, `IDEMPOTENCY_KEY_REUSED` with another body,
   * `SECRET_UNAVAILABLE` for an answer under a secret that this process does not list
   */
  async once<Result>(
    write: AccountWrite,
    work: () => Promise<Result>,
    replay: (done: DoneWrite) => Result | Promise<Result>,
  ): Promise<Result> {
    const { key } = write;
    if (!key) return attempt(work);
    if (this.running.has(key.id)) throw new Problem('IDEMPOTENCY_KEY_IN_USE');
    this.running.add(key.id);
    try {
      const stored = await this.find(key);
      return stored ? await replay(await this.doneBy(stored, write, key)) : await attempt(work);
    } catch (error) {
      // Another process may have stored the key meanwhile, and its work be what is now missing or in the way.
      const isDone = isDuplicateKey(error) || (error instanceof Problem && [404, 409].includes(error.status));
      const stored = isDone ? await this.find(key) : null;
      if (!stored) throw error;
      return await replay(await this.doneBy(stored, write, key));
    } finally {
      this.running.delete(key.id);
    }
  }

  /**
   * Whether this write is still to be done. False in a retry after the answer to COMMIT was lost. Call it in the
   * transaction of the work.
   */
  async isNew(session: Session, { id }: AccountWrite): Promise<boolean> {
    const done = await session.one(this.audit.findDone([id]));
    return !done.has(id);
  }

  /** Stores the audit event and the key. Send it in the transaction of the work. */
  record(write: AccountWrite, { counts = {}, wholeAnswer, isSecret = false, ...event }: WriteRecord): Query<unknown> {
    const { id, accountId, key, memberId, requestId, addressHash } = write;
    const recorded = this.audit.record({ id, accountId, memberId, requestId, addressHash, ...event });
    if (key === null) return recorded;
    const sealedAnswer = wholeAnswer ? this.secrets.seal(JSON.stringify(wholeAnswer)) : null;
    const holder = isSecret ? holderOf(write) : null;
    const row = { ...key, commandId: id, counts, sealedAnswer, holder, createdAt: new Date() };
    return together([recorded, this.keys.insert([row])]);
  }

  private async find({ id }: RepeatKey): Promise<IdempotencyKeyEntity | null> {
    return this.database.one(
      select<Row, IdempotencyKeyEntity | null>(
        `SELECT ${this.keys.select('k')} FROM idempotency_key k WHERE k.id = ?`,
        [id],
        ([row]) => (row ? this.keys.read(row) : null),
      ),
    );
  }

  private async doneBy(stored: IdempotencyKeyEntity, write: AccountWrite, key: RepeatKey): Promise<DoneWrite> {
    const { commandId, counts, sealedAnswer, holder } = stored;
    if (stored.bodyHash !== key.bodyHash) throw new Problem('IDEMPOTENCY_KEY_REUSED');
    if (holder !== null && holder !== holderOf(write)) throw new Problem('IDEMPOTENCY_KEY_REUSED');
    const answer = sealedAnswer === null ? 'null' : this.secrets.open(sealedAnswer);
    if (answer === null) throw new Problem('SECRET_UNAVAILABLE');
    const done = await this.database.one(this.audit.findDone([commandId]));
    if (commandId !== write.id) write.markReplayed();
    return { counts, uuids: done.get(commandId) ?? [], wholeAnswer: JSON.parse(answer) as unknown };
  }
}

/** The caller of a write, as `holder` stores it. */
function holderOf({ memberId, keyId }: AccountWrite): string {
  return memberId ?? `key ${keyId}`;
}

/**
 * A duplicate key can mean that an attempt whose answer was lost was committed only after the retry had begun. Another
 * attempt finds its work done.
 */
async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return work();
  }
}
