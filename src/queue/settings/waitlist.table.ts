import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../../platform/config/config.js';
import { Database } from '../../platform/database/database.js';
import { type Row, Table } from '../../platform/database/table.js';
import { WaitlistEntity } from './waitlist.entity.js';

/** Columns that can be large. Signups do not need them, and read null instead. */
export const LARGE_COLUMNS = [
  'removedQuestions',
  'display',
  'sealedCaptchaSecret',
  'mailSubject',
  'mailText',
] as const satisfies readonly (keyof WaitlistEntity)[];

/** A waitlist with all its settings. */
export interface WholeWaitlist extends WaitlistEntity {
  /** The address of its page in this service, where people sign up unless `urlLocation` names another page. */
  hostedPage: string;
}

/** A waitlist as the writer reads it. */
export type LeanWaitlist = Omit<WholeWaitlist, (typeof LARGE_COLUMNS)[number]>;

/** The columns that the answer to a signup or a lookup needs. */
export const SHOWN_COLUMNS = [
  'id',
  'urlLocation',
  'questions',
  'verification',
  'hidesCounts',
  'active',
] as const satisfies readonly (keyof WaitlistEntity)[];

/** A waitlist as the answer to a signup or a lookup shows it. */
export type ShownWaitlist = Pick<WholeWaitlist, (typeof SHOWN_COLUMNS)[number] | 'hostedPage'>;

/** The table `waitlist`. Its rows are read with the address of the hosted page, which depends on `PUBLIC_BASE_URL`. */
@Injectable()
export class WaitlistTable extends Table<WaitlistEntity> {
  constructor(
    { dataSource }: Database,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    super(dataSource, WaitlistEntity);
  }

  override read(row: Row): WholeWaitlist {
    const waitlist = super.read(row);
    return Object.assign(waitlist, { hostedPage: `${this.config.publicBaseUrl}/waitlist/${waitlist.id}` });
  }
}
