import { randomBytes } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { BackgroundTask, BackgroundTasks } from '../platform/background-task.js';
import { Database } from '../platform/database/database.js';
import type { Session } from '../platform/database/session.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService } from '../platform/idempotency/account-write.service.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import type { AccountKeyEntity } from './account-key.entity.js';
import { AccountKeyStore, type LiveKey } from './account-key.store.js';
import { AccountStore } from './account.store.js';

/** Keys of one account. The list of keys has no pages. */
export const ACCOUNT_KEYS_MAX = 100;
const KEY_BYTES = 32;
const PREFIX_LENGTH = 6;
/** The time of the last use is written at most once in this time for each key, by all replicas together. */
const USE_INTERVAL_MS = 60_000;

export type AccountKey = Readonly<AccountKeyEntity>;

export type NewAccountKey = Pick<AccountKey, 'name' | 'scope' | 'expiresAt' | 'waitlistIds'>;

/** A new key, with the secret that cannot be shown again. */
export interface CreatedAccountKey {
  readonly accountKey: AccountKey;
  readonly secret: string;
}

/** Keys for programs: each opens operations of its account until it is revoked or expires. */
@Injectable()
export class AccountKeyService implements BeforeApplicationShutdown {
  /** Uses that are not in the database yet, by the id of the key. */
  private readonly uses = new Map<number, Date>();
  private readonly task = new BackgroundTask(() => this.writeUses(), USE_INTERVAL_MS);

  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly keys: AccountKeyStore,
    private readonly writes: AccountWriteService,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not record the use of an account key yet');
  }

  /** The key with its account; null if it is unknown, revoked or expired. Reads the database each time. */
  async findLive(secret: string): Promise<LiveKey | null> {
    const now = new Date();
    const live = await this.database.one(this.keys.findLive({ keyHash: hashKey(secret) }, now));
    if (!live) return null;
    this.noteUse(live.key, now);
    return live;
  }

  /** Whether the key is neither revoked nor expired. */
  async isLive(id: number): Promise<boolean> {
    return (await this.database.one(this.keys.findLive({ id }, new Date()))) !== null;
  }

  /**
   * Returns the new key and its secret, which is stored as a hash and cannot be shown again.
   * @throws Problem `TOO_MANY_ACCOUNT_KEYS`; `WAITLIST_NOT_FOUND`; `INVALID_TOKEN` for a disabled account
   */
  async create(settings: NewAccountKey, write: AccountWrite): Promise<CreatedAccountKey> {
    const secret = randomBytes(KEY_BYTES).toString('hex');
    return this.writes.once(
      write,
      () => this.insert(settings, secret, write),
      ({ wholeAnswer }) => {
        const { accountKey, secret } = wholeAnswer as CreatedAccountKey;
        const { createdAt, expiresAt } = accountKey;
        const times = { createdAt: new Date(createdAt), expiresAt: expiresAt && new Date(expiresAt) };
        return { accountKey: { ...accountKey, ...times }, secret };
      },
    );
  }

  /** All keys of the account, oldest first, expired ones included. */
  async list(accountId: number): Promise<AccountKey[]> {
    return this.keys.list(accountId);
  }

  /** Ends a key at once, on every replica. @throws Problem `ACCOUNT_KEY_NOT_FOUND`, also for another account's key */
  async revoke(id: number, write: AccountWrite): Promise<void> {
    const work = () =>
      this.database.transaction(async (manager, session) => {
        if (!(await this.writes.isNew(session, write))) return;
        if (!(await this.keys.delete(manager, write.accountId, id))) {
          // An earlier attempt may have been committed meanwhile; the deletion then waited for its lock.
          if (await this.writes.isNew(session, write)) throw new Problem('ACCOUNT_KEY_NOT_FOUND');
          return;
        }
        await session.one(this.writes.record(write, { action: 'account_key_revoked', waitlistId: null }));
      });
    await this.writes.once(write, work, () => undefined);
  }

  /**
   * Takes a deleted waitlist from the keys that opened it, so that none opens a later waitlist with the same id. Call
   * it in the transaction of the deletion, after the row is gone: a key that is created meanwhile does not find the
   * waitlist any more.
   */
  async forgetWaitlist(session: Session, accountId: number, waitlistId: number): Promise<void> {
    await session.one(this.accounts.lock(accountId));
    for (const { id, waitlistIds } of await session.one(this.keys.listLimited(accountId)))
      if (waitlistIds?.includes(waitlistId))
        await session.one(
          this.keys.limit(
            id,
            waitlistIds.filter((other) => other !== waitlistId),
          ),
        );
  }

  /** Resolves when the uses noted so far are written. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    await this.task.attempt(() => this.writeUses());
  }

  private async insert(settings: NewAccountKey, secret: string, write: AccountWrite): Promise<CreatedAccountKey> {
    const { accountId, memberId: createdBy } = write;
    const keyHash = hashKey(secret);
    return this.database.transaction(async (manager, session) => {
      const isNew = await this.writes.isNew(session, write);
      if (isNew) {
        const { disabledAt } = await session.one(this.accounts.lock(accountId));
        // A key that is created while its account is disabled would work when the account is enabled again.
        if (disabledAt) throw new Problem('INVALID_TOKEN', { detail: 'This account is disabled.' });
        if ((await session.one(this.keys.count(accountId))) >= ACCOUNT_KEYS_MAX)
          throw new Problem('TOO_MANY_ACCOUNT_KEYS');
        await this.requireWaitlists(session, accountId, settings.waitlistIds);
        const prefix = secret.slice(0, PREFIX_LENGTH);
        const times = { createdAt: new Date(), lastUsedAt: null };
        await session.one(this.keys.insert({ ...settings, ...times, accountId, createdBy, keyHash, prefix }));
      }
      const wholeAnswer: CreatedAccountKey = { accountKey: await this.keys.findByHash(manager, keyHash), secret };
      const event = { action: 'account_key_created', waitlistId: null, wholeAnswer, isSecret: true } as const;
      if (isNew) await session.one(this.writes.record(write, event));
      return wholeAnswer;
    });
  }

  /** @throws Problem `WAITLIST_NOT_FOUND` unless all are the account's */
  private async requireWaitlists(session: Session, accountId: number, ids: readonly number[] | null): Promise<void> {
    if (ids === null) return;
    if ((await session.one(this.keys.countWaitlists(accountId, ids))) < ids.length)
      throw new Problem('WAITLIST_NOT_FOUND');
  }

  /** The write follows in the background, so no request waits for it. */
  private noteUse({ id, lastUsedAt }: AccountKey, now: Date): void {
    const isNoted = lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USE_INTERVAL_MS;
    if (isNoted || this.uses.has(id)) return;
    this.uses.set(id, now);
    this.task.wake();
  }

  /** Writes the uses noted so far. After a failure, the next run continues with the use that failed. */
  async writeUses(): Promise<void> {
    for (const [id, at] of this.uses) {
      const note = this.keys.noteUse(id, at, new Date(at.getTime() - USE_INTERVAL_MS));
      await this.database.pipelinedTransaction((transaction) => transaction.commit([note]));
      this.uses.delete(id);
    }
  }
}
