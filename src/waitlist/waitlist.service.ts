import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isSupportedCountry } from 'libphonenumber-js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { Database, type Terms } from '../platform/database/database.js';
import type { Session } from '../platform/database/session.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { QueueService } from '../queue/queue.service.js';
import { SPOTS_PER_REFERRAL_DEFAULT } from '../queue/rank-key.js';
import type { QueueTotals } from '../queue/waiter.js';
import type { Question, RequiredContact, WaitlistEntity } from './waitlist.entity.js';
import { WaitlistStore } from './waitlist.store.js';

const API_KEY_BYTES = 20;
/** Millions of records that referred someone may get another place; whoever signs up meanwhile is told to come back. */
const REORDERING: Terms = { deadlineMs: 10 * 60_000 };
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

/** A waitlist with what its line holds. */
export interface Waitlist extends Readonly<WaitlistEntity> {
  readonly spotsPerReferral: number;
  readonly totals: QueueTotals;
}

/** A waitlist whose key the caller presented. */
export interface OwnedWaitlist extends Readonly<WaitlistEntity> {
  readonly apiKey: string;
}

/** What owners configure. */
@Injectable()
export class WaitlistService {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistStore,
    private readonly queue: QueueService,
  ) {}

  /** The new waitlist and its API key, which is stored only as a hash and so can't be shown again. */
  async create(accountId: number, settings: WaitlistSettings & { name: string; urlLocation: string }) {
    const requiredContact = { ...REQUIRED_CONTACT_DEFAULT, ...settings.requiredContact };
    requireSound({ ...settings, requiredContact });
    const apiKey = newApiKey();
    const apiKeyHash = hashApiKey(apiKey);
    try {
      await this.database.transaction(async (manager) => {
        const { id } = await this.waitlists.insert(manager, {
          accountId,
          apiKeyHash,
          name: settings.name,
          urlLocation: settings.urlLocation,
          requiredContact,
          defaultRegion: settings.defaultRegion ?? null,
          questions: settings.questions ?? [],
          createdAt: new Date(),
        });
        await this.queue.open(manager, id, settings.spotsPerReferral ?? SPOTS_PER_REFERRAL_DEFAULT);
      });
    } catch (error) {
      // Nobody else makes this key: the first run was stored and its answer lost, and a repeat met its own row.
      if (!isDuplicateKey(error)) throw error;
    }
    const waitlist = await this.database.read((manager) =>
      this.waitlists.findOwnedByKey(manager, accountId, apiKeyHash),
    );
    return { waitlist: await this.complete(waitlist), apiKey };
  }

  /** All of the owner's, oldest first. */
  async list(accountId: number): Promise<Waitlist[]> {
    return this.withTotals(await this.waitlists.listOwned(accountId));
  }

  /** @throws Problem `not_found`, for another owner's too */
  async get(accountId: number, id: number): Promise<Waitlist> {
    return this.complete(await this.waitlists.findOwned(accountId, id));
  }

  /** What anyone may know of a waitlist, with its totals. @throws Problem `not_found` */
  async getPublicWithTotals(id: number): Promise<Waitlist> {
    return this.complete(await this.getPublic(id));
  }

  /** The rules by which people join. @throws Problem `not_found` */
  async getPublic(id: number): Promise<WaitlistEntity> {
    return this.database.read((manager) => this.readPublic(manager, id));
  }

  /** The same, beside what else is read. @throws Problem `not_found` */
  async readPublic(session: Session, id: number): Promise<WaitlistEntity> {
    return (await this.waitlists.findPublic(session, id)) ?? fail();
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
      async (manager) => {
        await this.waitlists.update(manager, accountId, id, changes);
        if (spotsPerReferral === undefined) return;
        // A repeat after a lost answer to the commit finds that they were moved already.
        recordsMoved = (await this.queue.setSpotsPerReferral(manager, id, spotsPerReferral)) || recordsMoved;
      },
      spotsPerReferral === undefined ? undefined : REORDERING,
    );
    return { waitlist: await this.get(accountId, id), recordsMoved };
  }

  /** Ends the waitlist, and begins to delete its records. @throws Problem `not_found` */
  async delete(accountId: number, id: number): Promise<void> {
    let isDeleted = false;
    await this.database.transaction(async (manager) => {
      // A repeat after a lost answer to the commit finds that it was deleted already.
      if (!(await this.waitlists.delete(manager, accountId, id))) return isDeleted ? undefined : fail();
      await this.queue.close(manager, id);
      isDeleted = true;
    });
    this.queue.beginPurge();
  }

  /** A new key; the old one ends at once. @throws Problem `not_found` */
  async renewApiKey(accountId: number, id: number): Promise<string> {
    const apiKey = newApiKey();
    const isDone = await this.database.transaction((manager) =>
      this.waitlists.update(manager, accountId, id, { apiKeyHash: hashApiKey(apiKey) }),
    );
    return isDone ? apiKey : fail();
  }

  /** The owner's waitlist with this API key; null for an unknown key and for another owner's. */
  async findByKey(accountId: number, apiKey: string): Promise<OwnedWaitlist | null> {
    const waitlist = await this.database.readTogether((session) =>
      this.waitlists.findOwnedByKey(session, accountId, hashApiKey(apiKey)),
    );
    return waitlist && { ...waitlist, apiKey };
  }

  private async complete(waitlist: WaitlistEntity | null): Promise<Waitlist> {
    const [found] = await this.withTotals(waitlist ? [waitlist] : []);
    return found ?? fail();
  }

  private async withTotals(waitlists: readonly WaitlistEntity[]): Promise<Waitlist[]> {
    const totals = await this.queue.totals(waitlists.map(({ id }) => id));
    return waitlists.flatMap((waitlist) => {
      const own = totals.get(waitlist.id);
      return own ? [{ ...waitlist, spotsPerReferral: own.spotsPerReferral, totals: own }] : [];
    });
  }
}

function fail(): never {
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
