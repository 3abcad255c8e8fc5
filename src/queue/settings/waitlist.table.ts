import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../../platform/config/config.js';
import { Database } from '../../platform/database/database.js';
import { select, type Session, write } from '../../platform/database/session.js';
import { type Row, Table } from '../../platform/database/table.js';
import { Problem } from '../../platform/problems/problem.js';
import { WaitlistEntity } from './waitlist.entity.js';

/** Columns that can be large. Signups do not need them, and read null instead. */
export const LARGE_COLUMNS = [
  'removedQuestions',
  'display',
  'sealedCaptchaSecret',
] as const satisfies readonly (keyof WaitlistEntity)[];

/** How many slugs a waitlist can have in all. Earlier ones count, because they stay reserved. */
export const SLUGS_MAX = 20;

/** A waitlist with all its settings. */
export interface WholeWaitlist extends WaitlistEntity {
  /** The address of its page in this service, where people sign up unless `urlLocation` names another page. */
  hostedPage: string;
  /** The same page by id. The private pages are below this address. */
  numberedPage: string;
}

/** A waitlist as the writer reads it. */
export type LeanWaitlist = Omit<WholeWaitlist, (typeof LARGE_COLUMNS)[number]>;

/** The columns that the answer to a signup or a lookup needs. */
export const SHOWN_COLUMNS = [
  'id',
  'slug',
  'urlLocation',
  'questions',
  'verification',
  'hidesCounts',
  'active',
] as const satisfies readonly (keyof WaitlistEntity)[];

/** The columns that explain a place. */
export const EXPLAINING_COLUMNS = [
  'id',
  'active',
  'spotsPerReferral',
] as const satisfies readonly (keyof WaitlistEntity)[];

/** A waitlist as it explains the places of its people. */
export interface ExplainingWaitlist extends Pick<WholeWaitlist, (typeof EXPLAINING_COLUMNS)[number]> {
  /** Raised with each change that can change a place. */
  readonly revision: number;
}

/** A waitlist as the answer to a signup or a lookup shows it. */
export type ShownWaitlist = Pick<WholeWaitlist, (typeof SHOWN_COLUMNS)[number] | 'hostedPage'>;

/** The table `waitlist`. Its rows are read with the address of the hosted page, which depends on `PUBLIC_BASE_URL`. */
@Injectable()
export class WaitlistTable extends Table<WaitlistEntity> {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    super(database.dataSource, WaitlistEntity);
  }

  override read(row: Row): WholeWaitlist {
    const waitlist = super.read(row);
    return Object.assign(waitlist, this.pagesOf(waitlist));
  }

  /** The addresses of the page, which follow from the id and the slug. */
  pagesOf({ id, slug }: Pick<WaitlistEntity, 'id' | 'slug'>): Pick<WholeWaitlist, 'hostedPage' | 'numberedPage'> {
    const pages = `${this.config.publicBaseUrl}/waitlist`;
    return { hostedPage: `${pages}/${slug ?? id}`, numberedPage: `${pages}/${id}` };
  }

  /**
   * Reserves the slug for this waitlist, and keeps it reserved after the slug changes. That of a deleted waitlist is
   * free for the same account only, once the records are gone. The upsert locks the row, so that only one of two
   * concurrent claims succeeds.
   * @throws Problem `SLUG_TAKEN`, `TOO_MANY_SLUGS`
   */
  async claimSlug(session: Session, { id, accountId, slug }: Pick<WaitlistEntity, 'id' | 'accountId' | 'slug'>) {
    if (slug === null) return;
    const lock = this.database.dialect.upsert(['slug'], ['slug']);
    await session.one(
      write(`INSERT INTO waitlist_slug (slug, account_id, waitlist_id) VALUES (?, ?, ?) ${lock}`, [
        slug,
        accountId,
        id,
      ]),
    );
    const holder = await session.one(
      select<{ id: number; account_id: number; used_id: number | null }, { id: number; isFree: boolean } | null>(
        `SELECT s.waitlist_id AS id, s.account_id, COALESCE(w.id, d.waitlist_id) AS used_id
         FROM waitlist_slug s LEFT JOIN waitlist w ON w.id = s.waitlist_id
         LEFT JOIN deleted_waitlist d ON d.waitlist_id = s.waitlist_id WHERE s.slug = ?`,
        [slug],
        ([row]) => (row ? { id: row.id, isFree: row.used_id === null && row.account_id === accountId } : null),
      ),
    );
    if (holder?.id !== id) {
      if (!holder?.isFree) throw new Problem('SLUG_TAKEN');
      await session.one(write('UPDATE waitlist_slug SET waitlist_id = ? WHERE slug = ?', [id, slug]));
    }
    const count = await session.one(
      select<{ total: number }, number>(
        'SELECT COUNT(*) AS total FROM waitlist_slug WHERE waitlist_id = ?',
        [id],
        ([row]) => Number(row?.total),
      ),
    );
    if (count > SLUGS_MAX) throw new Problem('TOO_MANY_SLUGS');
  }
}
