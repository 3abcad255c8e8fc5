import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isSupportedCountry } from 'libphonenumber-js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { Database, type RunOptions } from '../platform/database/database.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { EMPTY } from '../queue/counters.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { QueueReader } from '../queue/queue.reader.js';
import { QueueWriter } from '../queue/queue.writer.js';
import { SPOTS_PER_REFERRAL_DEFAULT } from '../queue/rank-key.js';
import type { Question, RequiredContact, WaitlistEntity } from '../queue/waitlist.entity.js';
import { WaitlistStore } from './waitlist.store.js';

const API_KEY_BYTES = 20;
/** Millions of records that referred someone may get another place; whoever signs up meanwhile is told to come back. */
const REORDERING: RunOptions = { deadlineMs: 10 * 60_000 };
const REQUIRED_CONTACT_DEFAULT: RequiredContact = {
  email: 'required',
  phone: 'optional',
  first_name: 'optional',
  last_name: 'optional',
};

/** What an owner may say of a waitlist; what is left out keeps its value, or its default on a new one. */
export interface WaitlistSettings {
  readonly name?: string;
  readonly urlLocation?: string;
  readonly spotsPerReferral?: number;
  readonly requiredContact?: Partial<RequiredContact>;
  readonly defaultRegion?: string | null;
  readonly questions?: Question[];
}

export type Waitlist = Readonly<WaitlistEntity>;

/** A waitlist whose key the caller presented. */
export interface OwnedWaitlist extends Waitlist {
  readonly apiKey: string;
}

/** What owners configure. */
@Injectable()
export class WaitlistService {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistStore,
    private readonly reader: QueueReader,
    private readonly writer: QueueWriter,
    private readonly purger: QueuePurger,
  ) {}

  /** The new waitlist and its API key, which is stored only as a hash and so can't be shown again. */
  async create(accountId: number, settings: WaitlistSettings & { name: string; urlLocation: string }) {
    const requiredContact = { ...REQUIRED_CONTACT_DEFAULT, ...settings.requiredContact };
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
          spotsPerReferral: settings.spotsPerReferral ?? SPOTS_PER_REFERRAL_DEFAULT,
          ...EMPTY,
        });
      });
    } catch (error) {
      // Nobody else makes this key: the first run was stored and its answer lost, and a repeat met its own row.
      if (!isDuplicateKey(error)) throw error;
    }
    const waitlist = await this.database.one(this.waitlists.findOwnedByKey(accountId, apiKeyHash));
    return { waitlist: waitlist ?? throwNotFound(), apiKey };
  }

  /** All of the owner's, oldest first. */
  async list(accountId: number): Promise<Waitlist[]> {
    return this.waitlists.listOwned(accountId);
  }

  /** @throws Problem `not_found`, for another owner's too */
  async get(accountId: number, id: number): Promise<Waitlist> {
    return (await this.waitlists.findOwned(accountId, id)) ?? throwNotFound();
  }

  /** A waitlist of any owner. @throws Problem `WAITLIST_NOT_FOUND` */
  async getPublic(id: number): Promise<Waitlist> {
    return this.reader.waitlist(id);
  }

  /** The waitlist as it then is, and how many records the change moved. @throws Problem `not_found`, `invalid` */
  async update(
    accountId: number,
    id: number,
    settings: WaitlistSettings,
  ): Promise<{ waitlist: Waitlist; recordsMoved: number }> {
    const current = await this.get(accountId, id);
    const requiredContact = { ...current.requiredContact, ...settings.requiredContact };
    requireSound({ ...settings, requiredContact });
    const { name, urlLocation, defaultRegion, questions, spotsPerReferral } = settings;
    const changes = Object.fromEntries(
      Object.entries({
        name,
        urlLocation,
        defaultRegion,
        questions,
        requiredContact: settings.requiredContact && requiredContact,
      }).filter(([, value]) => value !== undefined),
    );
    let recordsMoved = 0;
    await this.database.transaction(
      async (manager, session) => {
        await this.waitlists.update(manager, accountId, id, changes);
        if (spotsPerReferral === undefined) return;
        // A repeat after a lost answer to the commit finds that they were moved already.
        recordsMoved = (await this.writer.setSpotsPerReferral(session, id, spotsPerReferral)) || recordsMoved;
      },
      spotsPerReferral === undefined ? undefined : REORDERING,
    );
    return { waitlist: await this.get(accountId, id), recordsMoved };
  }

  /** Ends the waitlist, and begins to delete its records. @throws Problem `not_found` */
  async delete(accountId: number, id: number): Promise<void> {
    let isDeleted = false;
    await this.database.transaction(async (manager, session) => {
      // A repeat after a lost answer to the commit finds that it was deleted already.
      if (!(await this.waitlists.delete(manager, accountId, id))) return isDeleted ? undefined : throwNotFound();
      await this.purger.mark(session, id);
      isDeleted = true;
    });
    this.purger.wake();
  }

  /** A new key; the old one ends at once. @throws Problem `not_found` */
  async renewApiKey(accountId: number, id: number): Promise<string> {
    const apiKey = newApiKey();
    const isDone = await this.database.transaction((manager) =>
      this.waitlists.update(manager, accountId, id, { apiKeyHash: hashApiKey(apiKey) }),
    );
    return isDone ? apiKey : throwNotFound();
  }

  /** The caller's waitlist that a key opens, or null: for an unknown key and for another owner's alike. */
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

/** What the fields' own types can't say. */
function requireSound({ requiredContact, defaultRegion, questions = [] }: WaitlistSettings): void {
  const faults: FieldFault[] = [];
  if (requiredContact?.email === 'off' && requiredContact.phone === 'off') {
    faults.push({
      field: 'required_contact',
      message: 'must leave email or phone on: a record is found by one of them',
    });
  }
  if (defaultRegion && !isSupportedCountry(defaultRegion)) {
    faults.push({ field: 'default_region', message: 'must be a country that has phone numbers, such as US' });
  }
  if (new Set(questions.map(({ text }) => text)).size < questions.length) {
    faults.push({ field: 'questions', message: 'must differ from each other' });
  }
  if (faults.length > 0) throw Problem.invalid(faults);
}
