import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import { OwnerWrites } from '../platform/idempotency/owner-writes.js';
import { Problem } from '../platform/problems/problem.js';
import { EMPTY_TOTALS } from '../queue/counters.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { QueueReader } from '../queue/queue.reader.js';
import { changeQuestions, NO_QUESTIONS } from '../queue/questions.js';
import { type Configured, QueueWriter } from '../queue/queue.writer.js';
import { requireSound, type SettingChanges } from '../queue/settings.js';
import type { WaitlistEntity } from '../queue/waitlist.entity.js';
import { WaitlistStore } from './waitlist.store.js';

const API_KEY_BYTES = 20;
/** The values of omitted settings in a new waitlist. */
export const DEFAULTS = {
  spotsPerReferral: 3,
  requiredContact: { email: 'required', phone: 'optional', first_name: 'optional', last_name: 'optional' },
  isClosed: false,
  isPublic: true,
  hidesCounts: false,
} as const;

export type Waitlist = Readonly<WaitlistEntity>;

type NewSettings = SettingChanges & { readonly name: string; readonly urlLocation: string };

/** A new waitlist, with the key that cannot be shown again. */
export interface Created {
  readonly waitlist: Waitlist;
  readonly apiKey: string;
}

/** Starts after a waitlist, or at the first. */
export interface PageRequest {
  readonly afterId: number | null;
  readonly limit: number;
}

export interface Page {
  readonly waitlists: readonly Waitlist[];
  /** Where the next page starts; null on the last one. */
  readonly nextAfterId: number | null;
}

/** A waitlist with the key that the caller sent; null if the caller named it by its id. */
export interface OwnedWaitlist extends Waitlist {
  readonly apiKey: string | null;
}

/** Owners' operations on their waitlists. */
@Injectable()
export class WaitlistService {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistStore,
    private readonly reader: QueueReader,
    private readonly writer: QueueWriter,
    private readonly purger: QueuePurger,
    private readonly writes: OwnerWrites,
  ) {}

  /** Returns the new waitlist and its API key, which is stored as a hash and cannot be shown again. */
  async create(settings: NewSettings, write: OwnerWrite): Promise<Created> {
    return this.writes.once(
      write,
      () => this.insert(settings, write),
      ({ secretAnswer }) => {
        const { waitlist, apiKey } = secretAnswer as Created;
        return { waitlist: { ...waitlist, createdAt: new Date(waitlist.createdAt) }, apiKey };
      },
    );
  }

  /** A page of the owner's waitlists, oldest first. */
  async list(accountId: number, { afterId, limit }: PageRequest): Promise<Page> {
    // One waitlist beyond the page shows that there is a next page.
    const found = await this.waitlists.listOwned(accountId, { afterId, limit: limit + 1 });
    const waitlists = found.slice(0, limit);
    return { waitlists, nextAfterId: found.length > limit ? (waitlists.at(-1)?.id ?? null) : null };
  }

  /** @throws Problem `WAITLIST_NOT_FOUND`, also for another owner's waitlist */
  async get(accountId: number, id: number): Promise<Waitlist> {
    return (await this.waitlists.findOwned(accountId, id)) ?? throwNotFound();
  }

  /** A waitlist of any owner, for the operator. @throws Problem `WAITLIST_NOT_FOUND` */
  async getAny(id: number): Promise<Waitlist> {
    return this.reader.getWaitlist(id);
  }

  /** A public waitlist of any owner. @throws Problem `WAITLIST_NOT_FOUND`, the same for one that is not public */
  async getPublic(id: number): Promise<Waitlist> {
    const waitlist = await this.reader.getWaitlist(id);
    return waitlist.isPublic ? waitlist : throwNotFound();
  }

  /** @throws Problem `WAITLIST_NOT_FOUND`, `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN` */
  async update(id: number, settings: SettingChanges, write: OwnerWrite): Promise<Configured> {
    // This checks the owner, who never changes.
    const waitlist = await this.get(write.accountId, id);
    // A client may send back the whole waitlist. Only a change of the order waits for other reorderings.
    const isReordering = settings.spotsPerReferral !== waitlist.spotsPerReferral;
    const changes = isReordering ? settings : { ...settings, spotsPerReferral: undefined };
    return this.writes.once<Configured>(
      write,
      () => this.writer.configure(id, changes, write),
      ({ counts }) => ({ waitlist, recordsMoved: counts.recordsMoved as number }),
    );
  }

  /** Deletes the waitlist; its records are deleted in the background. @throws Problem `WAITLIST_NOT_FOUND` */
  async delete(id: number, write: OwnerWrite): Promise<void> {
    const work = () =>
      this.database.transaction(async (manager, session) => {
        if (!(await this.writes.isNew(session, write))) return;
        if (!(await this.waitlists.delete(manager, write.accountId, id))) {
          // It waited for the lock of an attempt that was still being committed.
          if (await this.writes.isNew(session, write)) throwNotFound();
          return;
        }
        await this.purger.mark(session, id);
        await session.one(this.writes.record(write, { action: 'waitlist_deleted', waitlistId: id }));
      });
    await this.writes.once(write, work, () => undefined);
    this.purger.wake();
  }

  /** Returns a new key; the old one stops working at once. @throws Problem `WAITLIST_NOT_FOUND` */
  async renewApiKey(id: number, write: OwnerWrite): Promise<string> {
    const apiKey = newApiKey();
    const work = async () => {
      await this.database.transaction(async (manager, session) => {
        if (!(await this.writes.isNew(session, write))) return;
        if (!(await this.waitlists.replaceApiKey(manager, write.accountId, id, hashApiKey(apiKey)))) throwNotFound();
        const secretAnswer = { apiKey };
        await session.one(this.writes.record(write, { action: 'api_key_replaced', waitlistId: id, secretAnswer }));
      });
      return apiKey;
    };
    return this.writes.once(write, work, ({ secretAnswer }) => (secretAnswer as { apiKey: string }).apiKey);
  }

  /** The caller's waitlist with this key; null for an unknown key and for another owner's alike. */
  async findByKey(accountId: number, apiKey: string): Promise<OwnedWaitlist | null> {
    const waitlist = await this.database.one(this.waitlists.findOwnedByKey(accountId, hashApiKey(apiKey)));
    return waitlist && { ...waitlist, apiKey };
  }

  private async insert(settings: NewSettings, write: OwnerWrite): Promise<Created> {
    const requiredContact = { ...DEFAULTS.requiredContact, ...settings.requiredContact };
    const { questions, removedQuestions, malformed } = changeQuestions(NO_QUESTIONS, settings.questions);
    requireSound({ requiredContact }, malformed);
    const apiKey = newApiKey();
    const apiKeyHash = hashApiKey(apiKey);
    return this.database.transaction(async (manager, session) => {
      const isNew = await this.writes.isNew(session, write);
      if (isNew)
        await this.waitlists.insert(manager, {
          accountId: write.accountId,
          apiKeyHash,
          name: settings.name,
          urlLocation: settings.urlLocation,
          requiredContact,
          defaultRegion: settings.defaultRegion ?? null,
          questions,
          removedQuestions,
          createdAt: new Date(),
          spotsPerReferral: settings.spotsPerReferral ?? DEFAULTS.spotsPerReferral,
          isClosed: settings.isClosed ?? DEFAULTS.isClosed,
          isPublic: settings.isPublic ?? DEFAULTS.isPublic,
          hidesCounts: settings.hidesCounts ?? DEFAULTS.hidesCounts,
          ...EMPTY_TOTALS,
        });
      const waitlist = await session.one(this.waitlists.findOwnedByKey(write.accountId, apiKeyHash));
      const secretAnswer: Created = { waitlist: waitlist ?? throwNotFound(), apiKey };
      const waitlistId = secretAnswer.waitlist.id;
      if (isNew) await session.one(this.writes.record(write, { action: 'waitlist_created', waitlistId, secretAnswer }));
      return secretAnswer;
    });
  }
}

function throwNotFound(): never {
  throw new Problem('WAITLIST_NOT_FOUND');
}

function newApiKey(): string {
  return randomBytes(API_KEY_BYTES).toString('hex');
}

function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}
