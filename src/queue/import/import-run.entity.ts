import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Questions } from '../settings/questions.js';

/** The settings of a waitlist by which a run reads its file, the questions that it adds included. */
export interface ImportRules extends Questions {
  /** The country of phone numbers without a country code. */
  readonly region: string | null;
}

/** A fault of a value; of a whole line if `field` is `line`. */
export interface ImportFault {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

/** The numbers of a file's lines by outcome, and their faults. */
export interface ImportReport {
  readonly imported: number;
  readonly skipped: number;
  readonly rejected: number;
  /** Imported records whose `referred_by` neither the file nor the waitlist knows. */
  readonly unresolved_referrals: number;
  /** Values that were left out because they did not fit; missing before 0.3.0, as is `columns`. */
  readonly ignored_values?: number;
  /** What became of each column; null for one that is ignored. */
  readonly columns?: readonly {
    readonly header: string;
    readonly column: string | null;
    readonly ignored_values: number;
    readonly first_ignored: readonly ImportFault[];
  }[];
  readonly ignored_columns: readonly string[];
  readonly errors: readonly ImportFault[];
}

/** The import of one file into one waitlist. A second start of the same file updates the row. */
@Entity('import_run')
export class ImportRunEntity {
  @PrimaryColumn({ type: 'varchar' })
  id!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /** Identifies the file and how its columns are read, as `identityOf` in `transfer/import-file.ts`: SHA-256 in hex. */
  @Column({ name: 'file_hash', type: 'varchar' })
  fileHash!: string;

  /** Identifies the latest start. A process that has an earlier one must not write. */
  @Column({ type: 'varchar' })
  runner!: string;

  @Column({ type: 'varchar' })
  state!: 'running' | 'done' | 'failed';

  /** The first reserved `seq`; null until numbers are reserved, as are `amount` and `rules`. */
  @Column({ name: 'first_seq', type: 'bigint', nullable: true })
  firstSeq!: number | null;

  @Column({ type: 'bigint', nullable: true })
  amount!: number | null;

  @Column({ type: 'simple-json', nullable: true })
  rules!: ImportRules | null;

  @Column({ type: 'simple-json', nullable: true })
  report!: ImportReport | null;

  /** The first start. A line without `created_at` gets this time. */
  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'started_at', type: 'datetime', precision: 3 })
  startedAt!: Date;

  /** The last heartbeat of the process that runs it. */
  @Column({ name: 'heartbeat_at', type: 'datetime', precision: 3 })
  heartbeatAt!: Date;
}
