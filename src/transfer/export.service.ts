import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import { Problem } from '../platform/problems/problem.js';
import type { OnProgress } from '../queue/maintenance/auditor.js';
import { QueueScanner, type Scan, type ScannedWaiter } from '../queue/read/queue.scanner.js';
import type { WholeWaitlist } from '../queue/settings/waitlist.table.js';
import { COLUMNS } from './column-names.js';
import { toCell, valuesOf } from './columns.js';
import { Spool } from './spool.js';
import { asSpaceProblem, TransferFiles } from './transfer-files.js';

/** Exports that run at once in a process, one for each account. Each has a connection to the database and a file. */
const EXPORTS_MAX = 2;
/** A client may have read the end of its export, and begin another, before the service has noticed that. */
const ENDING_MAX_MS = 1_000;

export const FORMATS = ['csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

type Lines = (records: readonly ScannedWaiter[], waitlist: Readonly<WholeWaitlist>) => string;

/** The text before the records, and that of some records. */
const WRITERS: Readonly<Record<Format, { readonly head: string; readonly lines: Lines }>> = {
  csv: {
    head: `${COLUMNS.join(',')}\n`,
    lines: (records, waitlist) =>
      stringify(
        records.map((record) => {
          const values = valuesOf(record, waitlist);
          return COLUMNS.map((column) => toCell(values[column]));
        }),
        // Many readers take a lone CR for the end of a line.
        { quoted_match: '\r' },
      ),
  },
  ndjson: {
    head: '',
    lines: (records, waitlist) => records.map((record) => `${JSON.stringify(valuesOf(record, waitlist))}\n`).join(''),
  },
};

/**
 * Writes whole waitlists: every record of one moment, active ones in the order of the queue, then offboarded ones in
 * the order of joining. The text goes to a file at the speed of the database, so a slow client holds neither connection
 * nor memory.
 */
@Injectable()
export class ExportService implements BeforeApplicationShutdown {
  /** By account; null for a command of the operator. */
  private readonly running = new Map<number | null, Promise<void>>();

  constructor(
    private readonly scanner: QueueScanner,
    private readonly files: TransferFiles,
  ) {}

  /**
   * The text of a waitlist. The export counts towards {@link EXPORTS_MAX} until `ended` is aborted;
   * then it stops and its file is closed.
   * @throws Problem `WAITLIST_NOT_FOUND`, `TRANSFERS_BUSY`, `DATABASE_UNAVAILABLE`, `OVERLOADED` if the disk is full
   */
  async open(
    accountId: number | null,
    waitlistId: number,
    format: Format,
    ended: AbortSignal,
    onProgress: OnProgress = () => undefined,
  ): Promise<Readable> {
    const previous = this.running.get(accountId);
    if (previous) await Promise.race([previous, setTimeout(ENDING_MAX_MS, undefined, { ref: false })]);
    if (this.running.size >= EXPORTS_MAX || this.running.has(accountId)) throw new Problem('TRANSFERS_BUSY');
    const spool = new Spool();
    const run = this.run(spool, waitlistId, format, ended, onProgress);
    this.running.set(accountId, run);
    void run.finally(() => this.running.delete(accountId));
    await spool.begun();
    return spool.read();
  }

  /** Resolves when the files of all exports are closed. Call it when their readers have ended. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.running.values());
  }

  private async run(
    spool: Spool,
    waitlistId: number,
    format: Format,
    ended: AbortSignal,
    onProgress: OnProgress,
  ): Promise<void> {
    try {
      const scan = await this.scanner.open(waitlistId);
      try {
        spool.open(await this.files.create());
        await write(scan, format, spool, ended, onProgress);
      } finally {
        await scan.close();
      }
      spool.finish();
    } catch (error) {
      spool.finish(asSpaceProblem(error) as Error);
    }
    if (!ended.aborted) await once(ended, 'abort');
    await spool.close();
  }
}

async function write(
  { waitlist, records }: Scan,
  format: Format,
  spool: Spool,
  ended: AbortSignal,
  onProgress: OnProgress,
): Promise<void> {
  const { head, lines } = WRITERS[format];
  let done = 0;
  await spool.write(head);
  for await (const chunk of records) {
    if (ended.aborted) return;
    await spool.write(lines(chunk, waitlist));
    done += chunk.length;
    onProgress(done, waitlist.active + waitlist.offered + waitlist.offboarded);
  }
}
