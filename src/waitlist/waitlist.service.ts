import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isSupportedCountry } from 'libphonenumber-js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { Database, type RunOptions } from '../platform/database/database.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { EMPTY_TOTALS } from '../queue/counters.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { QueueReader } from '../queue/queue.reader.js';
import { QueueWriter } from '../queue/queue.writer.js';
import type { RequiredContact, WaitlistEntity } from '../queue/waitlist.entity.js';
import { WaitlistStore } from './waitlist.store.js';

const API_KEY_BYTES = 20;
/** A change can move millions of records; signups are refused meanwhile. */
const REORDERING: RunOptions = { deadlineMs: 10 * 60_000 };
/** The settings of a waitlist that was created without them. */
export const DEFAULTS = {
  spotsPerReferral: 3,
  requiredContact: { email: 'required', phone: 'optional', first_name: 'optional', last_name: 'optional' },
} as const;

type Setting = 'name' | 'urlLocation' | 'spotsPerReferral' | 'defaultRegion' | 'questions';
/** The fields that an owner can set. An omitted field keeps its value, or gets its default on a new waitlist. */
export interface WaitlistSettings extends Partial<Pick<WaitlistEntity, Setting>> {
  readonly requiredContact?: Partial<RequiredContact>;
}

export type Waitlist = Readonly<WaitlistEntity>;

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
  ) {}

  /** Returns the new waitlist and its API key, which is stored as a hash and cannot be shown again. */
  async create(accountId: number, settings: WaitlistSettings & { name: string; urlLocation: string }) {
    const requiredContact = { ...DEFAULTS.requiredContact, ...settings.requiredContact };
    requireSound({ ...settings, requiredContact });
    const apiKey = newApiKey();
    const apiKeyHash = hashApiKey(apiKey);
    try {
      await this.database.transaction(async (manager) => {
        await this.waitlists.insert(manager, {
          accountId,
          apiKeyHash,
          name: settings.name,
          urlLocation: settings.urlLocation,
          requiredContact,
          defaultRegion: settings.defaultRegion ?? null,
          questions: settings.questions ?? [],
          createdAt: new Date(),
          spotsPerReferral: settings.spotsPerReferral ?? DEFAULTS.spotsPerReferral,
          ...EMPTY_TOTALS,
        });
      });
    } catch (error) {
      // The key is random, so this is a retry after a lost answer to the commit: the first attempt stored the row.
      if (!isDuplicateKey(error)) throw error;
    }
    const waitlist = await this.database.one(this.waitlists.findOwnedByKey(accountId, apiKeyHash));
    return { waitlist: waitlist ?? throwNotFound(), apiKey };
  }

  /** The owner's waitlists, oldest first. */
  async list(accountId: number): Promise<Waitlist[]> {
    return this.waitlists.listOwned(accountId);
  }

  /** @throws Problem `WAITLIST_NOT_FOUND`, also for another owner's waitlist */
  async get(accountId: number, id: number): Promise<Waitlist> {
    return (await this.waitlists.findOwned(accountId, id)) ?? throwNotFound();
  }

  /** A waitlist of any owner. @throws Problem `WAITLIST_NOT_FOUND` */
  async getPublic(id: number): Promise<Waitlist> {
    return this.reader.getWaitlist(id);
  }

  /** Returns the changed waitlist, and how many records moved. @throws Problem `WAITLIST_NOT_FOUND`, `INVALID_REQUEST` */
  async update(
    accountId: number,
    id: number,
    settings: WaitlistSettings,
  ): Promise<{ waitlist: Waitlist; recordsMoved: number }> {
    const current = await this.get(accountId, id);
    const { spotsPerReferral, requiredContact, ...others } = settings;
    const changes = {
      ...others,
      requiredContact: requiredContact && { ...current.requiredContact, ...requiredContact },
    };
    requireSound(changes);
    let recordsMoved = 0;
    await this.database.transaction(
      async (manager, session) => {
        await this.waitlists.update(manager, accountId, id, changes);
        if (spotsPerReferral === undefined) return;
        // A retry after a lost answer to the commit finds the records moved already.
        recordsMoved = (await this.writer.setSpotsPerReferral(session, id, spotsPerReferral)) || recordsMoved;
      },
      spotsPerReferral === undefined ? undefined : REORDERING,
    );
    return { waitlist: await this.get(accountId, id), recordsMoved };
  }

  /** Deletes the waitlist; its records are deleted in the background. @throws Problem `WAITLIST_NOT_FOUND` */
  async delete(accountId: number, id: number): Promise<void> {
    let isDeleted = false;
    await this.database.transaction(async (manager, session) => {
      // A retry after a lost answer to the commit finds the waitlist deleted already.
      if (!(await this.waitlists.delete(manager, accountId, id))) return isDeleted ? undefined : throwNotFound();
      await this.purger.mark(session, id);
      isDeleted = true;
    });
    this.purger.wake();
  }

  /** Returns a new key; the old one stops working at once. @throws Problem `WAITLIST_NOT_FOUND` */
  async renewApiKey(accountId: number, id: number): Promise<string> {
    const apiKey = newApiKey();
    const isDone = await this.database.transaction((manager) =>
      this.waitlists.update(manager, accountId, id, { apiKeyHash: hashApiKey(apiKey) }),
    );
    return isDone ? apiKey : throwNotFound();
  }

  /** The caller's waitlist with this key; null for an unknown key and for another owner's alike. */
  async findByKey(accountId: number, apiKey: string): Promise<OwnedWaitlist | null> {
    const waitlist = await this.database.one(this.waitlists.findOwnedByKey(accountId, hashApiKey(apiKey)));
    return waitlist && { ...waitlist, apiKey };
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

/** Rules that no field decorator states. @throws Problem `INVALID_REQUEST` */
function requireSound({ requiredContact, defaultRegion, questions = [] }: WaitlistSettings): void {
  const faults: FieldFault[] = [];
  if (requiredContact?.email === 'off' && requiredContact.phone === 'off') {
    faults.push({
      field: 'required_contact',
      rule: 'reachable',
      message: 'must leave email or phone on: a record is found by one of them',
    });
  }
  if (defaultRegion && !isSupportedCountry(defaultRegion)) {
    faults.push({
      field: 'default_region',
      rule: 'known',
      message: 'must be a country that has phone numbers, such as US',
    });
  }
  if (new Set(questions.map(({ text }) => text)).size < questions.length) {
    faults.push({ field: 'questions', rule: 'unique', message: 'must differ from each other' });
  }
  if (faults.length > 0) throw Problem.invalid(faults);
}
