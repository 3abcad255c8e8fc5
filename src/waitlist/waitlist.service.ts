import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountKeyService } from '../account/account-key.service.js';
import { FRAUD_DEFAULTS } from '../fraud/fraud-rules.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { Database } from '../platform/database/database.js';
import type { Session } from '../platform/database/session.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService } from '../platform/idempotency/account-write.service.js';
import type { Reach } from '../platform/reach.js';
import { type PageAfter, pageOf } from '../platform/page.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { SealedColumns } from '../platform/secrets/sealed-columns.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { EMPTY_TOTALS } from '../queue/order/counters.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { changeQuestions, NO_QUESTIONS } from '../queue/settings/questions.js';
import type { Configured } from '../queue/write/commands/configure.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import { type Mails, NO_MAILS, type WordChange, withWords } from '../queue/settings/mail-words.js';
import { ReleaseDueTable } from '../queue/settings/release-due.table.js';
import { savedPlan } from '../queue/settings/release-plan.js';
import { given, requireSound, type SettingChanges } from '../queue/settings/settings.js';
import type { Captcha, Display } from '../queue/settings/waitlist.entity.js';
import type { WholeWaitlist } from '../queue/settings/waitlist.table.js';
import { isSlug, newApiKey, newPublicKey } from './waitlist-keys.js';
import { WaitlistMailTable } from '../queue/settings/waitlist-mail.table.js';
import { type NewWaitlist, WaitlistStore } from './waitlist.store.js';

/** The values of omitted settings in a new waitlist. */
export const DEFAULTS = {
  spotsPerReferral: 3,
  requiredContact: { email: 'required', phone: 'optional', first_name: 'optional', last_name: 'optional' },
  isClosed: false,
  isPublic: true,
  hidesCounts: false,
  verification: 'off',
  mailOnOffboarding: false,
  mailOnSignup: false,
  display: {
    title: null,
    success_title: null,
    signup_button_title: null,
    logo: null,
    configuration_style_json: {},
    uses_firstname_lastname: false,
    uses_leaderboard: false,
    leaderboard_length: 10,
    remove_widget_headers: false,
    widget_shows_social_links: false,
    twitter_message: null,
    lang: 'en',
    texts: {},
    your_turn_url: null,
    contact: null,
    shows_inviter: false,
    frame_origins: [],
  } satisfies Display as Display,
} as const;

export type Waitlist = Readonly<WholeWaitlist>;

/** A waitlist with the owner's words of its mails. */
export interface WordedWaitlist extends Waitlist {
  readonly mails: Mails;
}

/** Settings as the owner gives them. */
export interface GivenSettings extends Omit<SettingChanges, 'sealedCaptchaSecret'> {
  /** In clear; undefined to keep the one that is stored. */
  readonly captchaSecret?: string | undefined;
  /** In this order: the later of two changes of one text counts. */
  readonly mails?: readonly WordChange[];
}

type NewSettings = GivenSettings & { readonly name: string };

/** A captcha with its secret in clear; null if this process cannot decrypt it. */
export interface CaptchaAccess extends Captcha {
  readonly secret: string | null;
}

/** Names that the owner gives a new waitlist; omitted ones are generated. */
export interface Names {
  readonly id?: number | undefined;
  readonly publicKey?: string | undefined;
}

/** A new waitlist, with the key that cannot be shown again. */
export interface Created {
  readonly waitlist: WordedWaitlist;
  readonly apiKey: string;
}

export interface Page {
  readonly waitlists: readonly WordedWaitlist[];
  /** Where the next page starts; null on the last one. */
  readonly nextAfterId: number | null;
}

/** A waitlist with the key that the caller sent; null if the caller named it by its id. */
export interface OwnedWaitlist extends Waitlist {
  readonly apiKey: string | null;
}

/** Operations of accounts on their waitlists. */
@Injectable()
export class WaitlistService {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistStore,
    private readonly mails: WaitlistMailTable,
    private readonly releases: ReleaseDueTable,
    private readonly writer: QueueWriter,
    private readonly purger: QueuePurger,
    private readonly accountKeys: AccountKeyService,
    private readonly writes: AccountWriteService,
    private readonly secrets: Secrets,
    sealed: SealedColumns,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    sealed.add({ table: 'waitlist', id: 'id', column: 'sealed_captcha_secret' });
  }

  /** Whether this service can mail anybody. Waitlists keep their settings where it no longer does. */
  get sendsMail(): boolean {
    return this.config.mail !== null;
  }

  /**
   * Returns the new waitlist and its API key, which is stored as a hash and cannot be shown again.
   * @throws Problem `ID_TAKEN`, `PUBLIC_KEY_TAKEN`, `SLUG_TAKEN` for a name that a waitlist has or had. Only the
   * account that had it may use it again, once the deleted waitlist's records are gone. `TOO_MANY_SLUGS` for the
   * id of a deleted waitlist that has used all of its slugs
   */
  async create(settings: NewSettings, write: AccountWrite, brought: Names = {}): Promise<Created> {
    const apiKey = newApiKey();
    return this.writes.once(
      write,
      () => this.insert(settings, apiKey, write, brought),
      ({ wholeAnswer }) => {
        const { waitlist, apiKey } = wholeAnswer as Created;
        return { waitlist: { ...waitlist, createdAt: new Date(waitlist.createdAt) }, apiKey };
      },
    );
  }

  /** A page of the waitlists within a reach, oldest first. */
  async list(reach: Reach, { afterId, limit }: PageAfter<number>): Promise<Page> {
    const found = await this.database.one(this.waitlists.listOwned(reach, { afterId, limit: limit + 1 }));
    const { items, nextAfterId } = pageOf(found, limit);
    const mails = await this.database.one(this.mails.findAll(items.map(({ id }) => id)));
    const waitlists = items.map((waitlist) => ({ ...waitlist, mails: mails.get(waitlist.id) ?? NO_MAILS }));
    return { waitlists, nextAfterId };
  }

  /** @throws Problem `WAITLIST_NOT_FOUND`, also for another account's waitlist */
  async get(reach: Reach, id: number): Promise<Waitlist> {
    return (await this.database.one(this.waitlists.findOwned(reach, id))) ?? throwNotFound();
  }

  /** {@link get} with the owner's words of mails. */
  async getWorded(reach: Reach, id: number): Promise<WordedWaitlist> {
    const [waitlist, mails] = await this.database.all([this.waitlists.findOwned(reach, id), this.mails.find(id)]);
    return waitlist ? { ...waitlist, mails } : throwNotFound();
  }

  /** The public waitlist of any owner that has or had this slug. @throws Problem `WAITLIST_NOT_FOUND` */
  async getBySlug(slug: string): Promise<Waitlist> {
    // MySQL cannot compare other characters with the column, which is ASCII.
    if (!isSlug(slug)) throwNotFound();
    return (await this.database.one(this.waitlists.findBySlug(slug))) ?? throwNotFound();
  }

  /** A public waitlist of any owner. @throws Problem `WAITLIST_NOT_FOUND`, the same for one that is not public */
  async getPublic(id: number): Promise<Waitlist> {
    return (await this.database.one(this.waitlists.findPublic(id))) ?? throwNotFound();
  }

  /** A waitlist of any owner, for the private pages of its people. @throws Problem `WAITLIST_NOT_FOUND` */
  async getForMembers(id: number): Promise<Waitlist> {
    return (await this.database.one(this.waitlists.find(id))) ?? throwNotFound();
  }

  /** The captcha of a waitlist of any owner; null without one. */
  async findCaptcha(id: number): Promise<CaptchaAccess | null> {
    const waitlist = await this.database.one(this.waitlists.find(id));
    if (!waitlist?.captcha) return null;
    return { ...waitlist.captcha, secret: this.secrets.open(waitlist.sealedCaptchaSecret ?? '') };
  }

  /** @throws Problem `WAITLIST_NOT_FOUND`, `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `SLUG_TAKEN`, `TOO_MANY_SLUGS` */
  async update(id: number, settings: GivenSettings, write: AccountWrite): Promise<Configured> {
    // Also checks the reach. A waitlist never changes its account.
    const { mails, ...waitlist } = await this.getWorded(write, id);
    // A client may send back the whole waitlist. Unchanged spots must not wait for other reorderings, and the hosted
    // page's address depends on `PUBLIC_BASE_URL`, so it is not stored.
    const { spotsPerReferral, urlLocation, captchaSecret, mails: wordChanges = [], ...others } = settings;
    this.requireMail(others, waitlist);
    const changes: SettingChanges = {
      ...others,
      sealedCaptchaSecret: captchaSecret && this.secrets.seal(captchaSecret),
      spotsPerReferral: spotsPerReferral === waitlist.spotsPerReferral ? undefined : spotsPerReferral,
      urlLocation: [waitlist.hostedPage, waitlist.numberedPage].includes(urlLocation ?? '') ? null : urlLocation,
    };
    return this.writes.once<Configured>(
      write,
      () => this.writer.configure(id, changes, write, wordChanges),
      ({ counts }) => ({ waitlist, mails, recordsMoved: counts.recordsMoved as number }),
    );
  }

  /** Deletes the waitlist; its records are deleted in the background. @throws Problem `WAITLIST_NOT_FOUND` */
  async delete(id: number, write: AccountWrite): Promise<void> {
    const work = () =>
      this.database.transaction(async (manager, session) => {
        if (!(await this.writes.isNew(session, write))) return;
        if (!isWithinReach(write, id)) throwNotFound();
        await session.one(this.waitlists.keepNames(write.accountId, id));
        if (!(await this.waitlists.delete(manager, write.accountId, id))) {
          // An earlier attempt may have been committed meanwhile; the deletion then waited for its lock.
          if (await this.writes.isNew(session, write)) throwNotFound();
          return;
        }
        await this.accountKeys.forgetWaitlist(session, write.accountId, id);
        await this.purger.mark(session, id);
        await session.one(this.writes.record(write, { action: 'waitlist_deleted', waitlistId: id }));
      });
    await this.writes.once(write, work, () => undefined);
    this.purger.wake();
  }

  /** Returns a new key; the old one stops working at once. @throws Problem `WAITLIST_NOT_FOUND` */
  async renewApiKey(id: number, write: AccountWrite): Promise<string> {
    const apiKey = newApiKey();
    const work = async () => {
      await this.database.transaction(async (manager, session) => {
        if (!(await this.writes.isNew(session, write))) return;
        if (!isWithinReach(write, id)) throwNotFound();
        if (!(await this.waitlists.replaceApiKey(manager, write.accountId, id, hashKey(apiKey)))) throwNotFound();
        const answer = { wholeAnswer: { apiKey }, isSecret: true };
        await session.one(this.writes.record(write, { action: 'api_key_replaced', waitlistId: id, ...answer }));
      });
      return apiKey;
    };
    return this.writes.once(write, work, ({ wholeAnswer }) => (wholeAnswer as { apiKey: string }).apiKey);
  }

  /** The caller's waitlist with this key; null for an unknown key and for another account's alike. */
  async findByKey(reach: Reach, apiKey: string): Promise<OwnedWaitlist | null> {
    const waitlist = await this.database.one(this.waitlists.findOwnedByKey(reach, hashKey(apiKey)));
    return waitlist && { ...waitlist, apiKey };
  }

  private async insert(settings: NewSettings, apiKey: string, write: AccountWrite, brought: Names): Promise<Created> {
    const requiredContact = { ...DEFAULTS.requiredContact, ...settings.requiredContact };
    const { questions, removedQuestions, malformed } = changeQuestions(NO_QUESTIONS, settings.questions);
    const { captcha = null, captchaSecret, verification = DEFAULTS.verification } = settings;
    const sealedCaptchaSecret = captchaSecret === undefined ? null : this.secrets.seal(captchaSecret);
    requireSound({ requiredContact, captcha, sealedCaptchaSecret, verification }, malformed);
    const mails = withWords(NO_MAILS, settings.mails ?? []);
    this.requireMail(settings, DEFAULTS);
    const apiKeyHash = hashKey(apiKey);
    const createdAt = new Date();
    const row: NewWaitlist = {
      id: brought.id,
      publicKey: brought.publicKey ?? newPublicKey(),
      accountId: write.accountId,
      apiKeyHash,
      slug: settings.slug ?? null,
      name: settings.name,
      urlLocation: settings.urlLocation ?? null,
      requiredContact,
      defaultRegion: settings.defaultRegion ?? null,
      questions,
      removedQuestions,
      createdAt,
      spotsPerReferral: settings.spotsPerReferral ?? DEFAULTS.spotsPerReferral,
      isClosed: settings.isClosed ?? DEFAULTS.isClosed,
      isPublic: settings.isPublic ?? DEFAULTS.isPublic,
      hidesCounts: settings.hidesCounts ?? DEFAULTS.hidesCounts,
      display: settings.display ?? {},
      verification,
      fraud: { ...FRAUD_DEFAULTS, ...given(settings.fraud ?? {}) },
      captcha,
      sealedCaptchaSecret,
      mailOnOffboarding: settings.mailOnOffboarding ?? DEFAULTS.mailOnOffboarding,
      mailOnSignup: settings.mailOnSignup ?? DEFAULTS.mailOnSignup,
      offers: settings.offers ? given(settings.offers) : null,
      releasePlan: savedPlan(null, settings.releasePlan ?? null, createdAt),
      ...EMPTY_TOTALS,
      nextPending: 0,
      nextEvent: 0,
    };
    return this.database.transaction(async (manager, session) => {
      const isNew =
        (await this.writes.isNew(session, write)) && (await this.insertRow(manager, session, row, write, brought));
      const waitlist = (await session.one(this.waitlists.findOwnedByKey(write, apiKeyHash))) ?? throwNotFound();
      const wholeAnswer: Created = { waitlist: { ...waitlist, mails }, apiKey };
      if (!isNew) return wholeAnswer;
      await this.requireNamesUnused(session, waitlist);
      await this.waitlists.claimSlug(session, waitlist);
      if (mails !== NO_MAILS) await session.one(this.mails.replace(waitlist.id, mails));
      if (row.releasePlan) await session.one(this.releases.note(waitlist.id, row.releasePlan, row.createdAt));
      const event = { action: 'waitlist_created', waitlistId: waitlist.id, wholeAnswer, isSecret: true } as const;
      await session.one(this.writes.record(write, event));
      return wholeAnswer;
    });
  }

  /** Without a mail server, nobody could be verified or told anything. @throws Problem `WAITLIST_RULE_BROKEN` */
  private requireMail(
    settings: GivenSettings,
    current: Pick<Waitlist, 'verification' | 'mailOnOffboarding' | 'mailOnSignup'>,
  ): void {
    if (this.sendsMail) return;
    const { verification = 'off', mailOnOffboarding = false, mailOnSignup = false } = settings;
    const message = 'must be off: this service sends no mail, because SMTP_URL is not set';
    const broken: FieldFault[] = [
      ...(verification === 'off' || verification === current.verification ? [] : ['verification']),
      ...(!mailOnOffboarding || current.mailOnOffboarding ? [] : ['mail_on_offboarding']),
      ...(!mailOnSignup || current.mailOnSignup ? [] : ['mail_on_signup']),
    ].map((field) => ({ field, rule: 'one_of', message }));
    if (broken.length > 0) throw Problem.ruleBroken(broken);
  }

  /** Returns whether the row is new: an earlier attempt may have been committed meanwhile. */
  private async insertRow(
    manager: EntityManager,
    session: Session,
    row: NewWaitlist,
    write: AccountWrite,
    brought: Names,
  ): Promise<boolean> {
    try {
      await this.waitlists.insert(manager, row);
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if (!(await this.writes.isNew(session, write))) return false;
      if (brought.id !== undefined && (await session.one(this.waitlists.hasId(brought.id))))
        throw new Problem('ID_TAKEN');
      // Another attempt generates another key.
      throw brought.publicKey === undefined ? error : new Problem('PUBLIC_KEY_TAKEN');
    }
  }

  /**
   * A name stays reserved after its waitlist is deleted, so that another owner cannot receive its visitors. Call it
   * after the insertion, which waits for a deletion of the same names: this then sees them.
   * @throws Problem `ID_TAKEN`, `PUBLIC_KEY_TAKEN`
   */
  private async requireNamesUnused(session: Session, { id, publicKey, accountId }: Waitlist): Promise<void> {
    for (const former of await session.one(this.waitlists.findFormer([String(id), publicKey])))
      if (former.accountId !== accountId || former.isBeingDeleted)
        throw new Problem(former.name === publicKey ? 'PUBLIC_KEY_TAKEN' : 'ID_TAKEN');
  }
}

function isWithinReach({ waitlistIds }: Reach, id: number): boolean {
  return waitlistIds?.includes(id) ?? true;
}

function throwNotFound(): never {
  throw new Problem('WAITLIST_NOT_FOUND');
}
