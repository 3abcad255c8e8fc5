import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Need } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { LongCallService } from '../auth/long-call.service.js';
import { Lifecycle } from '../platform/health/lifecycle.js';
import { operatorWrite, type AccountWrite } from '../platform/idempotency/account-write.js';
import { broken } from '../platform/contract/fields.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { type ChunkOutcome, type LatestRun, QueueImporter, type Run } from '../queue/import/importer.js';
import { ImportQuestions } from '../queue/import/import-questions.js';
import type { ImportFault, ImportReport } from '../queue/import/import-run.entity.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { type Line, readLine } from './columns.js';
import type { Column, Mapping } from './column-names.js';
import { COLUMN_LENGTH_MAX, guessedOf, type Header, identityOf, readHeader, readLines } from './import-file.js';
import { LineCounter } from './line-counter.js';
import { readMapping } from './mapping.js';
import { Staging } from './staging.js';
import { asSpaceProblem, TransferFiles } from './transfer-files.js';

/** Imports that run at once in a process, one for each account. */
const IMPORTS_MAX = 2;
export const ERRORS_MAX = 1_000;
/** How many faults the report shows of the values of a column that are left out. */
export const IGNORED_SHOWN = 5;
/** An import ends after this many rejected lines. A file of 1 GiB can have 20 million. */
const REJECTED_MAX = 1_000_000;
/** The longest work without a pause. Another request waits this long at each of its turns of the event loop. */
const SLICE_MS = 2;
/** Lines between two looks at the clock. */
const LOOK_LINES = 8;

export interface ImportOptions {
  readonly waitlistId: number;
  /** Only reports what an import would do. */
  readonly isDryRun: boolean;
  /** A JSON object that says what columns are: see `readMapping`. */
  readonly columns?: string | undefined;
  readonly write: AccountWrite;
  /** Aborted if the client leaves. Only a dry run ends then, because nobody reads its report. */
  readonly ended?: AbortSignal;
}

/** An import that somebody sends. */
export interface ReceivedOptions extends ImportOptions {
  readonly caller: Caller;
  /** What the caller needs when the file has arrived, too. */
  readonly need: Need;
}

/** How far an import is. */
export interface ImportProgress {
  phase: 'receiving' | 'reading' | 'writing';
  /** Bytes received, or lines read or written. */
  done: number;
  /** All lines; null while their number is unknown. */
  total: number | null;
}

/** An import whose file has a valid header. */
export interface ImportUnderWay {
  readonly progress: Readonly<ImportProgress>;
  readonly report: Promise<ImportReport>;
}

/** A file that has been read once, to check it before its lines are parsed. */
interface SurveyedFile {
  /** See `identityOf`. */
  readonly identity: string;
  readonly header: Header;
  readonly lines: number;
}

/** What a file holds, besides its staged lines. */
interface StagedFile {
  readonly questions: ImportQuestions;
  readonly rejected: number;
  readonly errors: ImportReport['errors'];
  readonly ignored: ReadonlyMap<Column, IgnoredValues>;
}

/** The values of a column that were left out. */
interface IgnoredValues {
  readonly amount: number;
  readonly first: readonly ImportFault[];
}

/** Imports CSV files into waitlists. */
@Injectable()
export class ImportService implements BeforeApplicationShutdown {
  /** By account. */
  private readonly running = new Map<number, Promise<unknown>>();
  private isStopped = false;

  constructor(
    private readonly importer: QueueImporter,
    private readonly reader: QueueReader,
    private readonly files: TransferFiles,
    private readonly lifecycle: Lifecycle,
    private readonly longCalls: LongCallService,
  ) {}

  /** The latest import of a waitlist, null before the first. */
  async findLatest(waitlistId: number): Promise<LatestRun | null> {
    return this.importer.findLatest(waitlistId);
  }

  /**
   * Imports a file that is still arriving. Resolves when a valid header has arrived. Once the whole file has arrived,
   * the import runs to its end even without a client.
   * @throws Problem `INVALID_CSV`, `IMPORT_RUNNING`, `TRANSFERS_BUSY`, `OVERLOADED` if the disk is full, and those of
   * {@link LongCallService.requireStill}
   */
  async receive(body: Readable, options: ReceivedOptions): Promise<ImportUnderWay> {
    const mapping = readMapping(options.columns);
    const progress: ImportProgress = { phase: 'receiving', done: 0, total: null };
    // First, because the account of a running import is busy too, and this is the better answer.
    if (!options.isDryRun) await this.importer.requireIdle(options.waitlistId);
    let accept: (() => void) | undefined;
    const accepted = new Promise<void>((resolve) => (accept = resolve));
    const report = this.withinLimit(options.write.accountId, async () => {
      const file = await this.files.create();
      try {
        const onChunk = async (chunk: Buffer) => {
          // Unlike write(), which can store a part where the disk becomes full.
          await file.appendFile(chunk);
          progress.done += chunk.length;
        };
        const surveyed = await survey(body, mapping, onChunk, () => accept?.());
        await this.longCalls.requireStill(options.caller, options.need);
        return await this.run(file, surveyed, options, progress);
      } finally {
        await file.close();
      }
    });
    // After a disconnect, nothing awaits the report.
    report.catch(() => undefined);
    await Promise.race([accepted, report]);
    return { progress, report };
  }

  /** Imports a file on disk, on behalf of the owner. @throws Problem as {@link receive} does */
  async importFile(
    path: string,
    { waitlistId, isDryRun, columns }: Omit<ImportOptions, 'write'>,
    onProgress: (progress: Readonly<ImportProgress>) => void,
  ): Promise<ImportReport> {
    const mapping = readMapping(columns);
    const { accountId } = await this.reader.getWaitlist(waitlistId);
    const options = { waitlistId, isDryRun, write: operatorWrite(accountId) };
    return this.withinLimit(accountId, async () => {
      const file = await open(path);
      try {
        const surveyed = await survey(file.createReadStream({ autoClose: false, start: 0 }), mapping);
        // An estimate: a cell can have line breaks.
        const progress: ImportProgress = { phase: 'reading', done: 0, total: surveyed.lines };
        return await this.run(file, surveyed, options, progress, onProgress);
      } finally {
        await file.close();
      }
    });
  }

  /** Ends the imports at their next step. Another import of the same file completes each. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await Promise.allSettled(this.running.values());
  }

  private async withinLimit(accountId: number, work: () => Promise<ImportReport>): Promise<ImportReport> {
    if (this.running.size >= IMPORTS_MAX || this.running.has(accountId)) throw new Problem('TRANSFERS_BUSY');
    const report = work();
    this.running.set(accountId, report);
    try {
      return await report;
    } catch (error) {
      throw asSpaceProblem(error);
    } finally {
      this.running.delete(accountId);
    }
  }

  private async run(
    file: FileHandle,
    { identity, header }: SurveyedFile,
    options: ImportOptions,
    progress: ImportProgress,
    onProgress: (progress: ImportProgress) => void = () => undefined,
  ): Promise<ImportReport> {
    const { waitlistId, isDryRun } = options;
    if (isDryRun) {
      const run = await this.importer.beginDryRun(waitlistId, identity);
      return this.carryOut(file, header, run, options, progress, onProgress);
    }
    const run = await this.importer.begin(waitlistId, identity);
    const stopBeating = this.importer.keepAlive(run);
    let report: ImportReport | undefined;
    try {
      report = await this.carryOut(file, header, run, options, progress, onProgress);
      await this.importer.end(run, report);
      return report;
    } catch (error) {
      // If the database is unavailable, the run counts as failed once its heartbeats stop.
      await this.importer.end(run, null).catch(() => undefined);
      throw error;
    } finally {
      stopBeating();
    }
  }

  private async carryOut(
    file: FileHandle,
    header: Header,
    begun: Run,
    options: ImportOptions,
    progress: ImportProgress,
    onProgress: (progress: ImportProgress) => void,
  ): Promise<ImportReport> {
    const { isDryRun, write } = options;
    const isNumbered = header.uses.some(({ column }) => column === 'join_order');
    const staging = await this.files.openNew((path) => new Staging(path, isNumbered));
    try {
      const staged = await this.stageLines(file, header, staging, begun, options, (lines) => {
        Object.assign(progress, { phase: 'reading', done: lines });
        onProgress(progress);
      });
      const rules = { region: begun.rules.region, ...staged.questions.all };
      const run = isDryRun
        ? { ...begun, rules }
        : await this.importer.reserve(begun, rules, staging.numbersNeeded, write);
      // Without numbers, the owner has changed the region or the questions meanwhile.
      if (run.firstSeq === null) return await this.carryOut(file, header, run, options, progress, onProgress);
      Object.assign(progress, { phase: 'writing', done: 0, total: staging.length });
      const { imported, skipped, unresolved } = await this.writeLines(staging, run, run.firstSeq, options, (lines) => {
        progress.done += lines;
        onProgress(progress);
      });
      return reportOf(header, staged, { imported, skipped, unresolved });
    } finally {
      staging.close();
    }
  }

  /** Reads the whole file before anything is written. */
  private async stageLines(
    file: FileHandle,
    header: Header,
    staging: Staging,
    { rules, createdAt }: Run,
    options: ImportOptions,
    onLines: (lines: number) => void,
  ): Promise<StagedFile> {
    const questions = new ImportQuestions(rules);
    const guessed = guessedOf(header);
    const errors: ImportFault[] = [];
    const ignored = new Map<Column, IgnoredValues>();
    let rejected = 0;
    let lines = 0;
    let since = performance.now();
    for await (const { number, cells, kept, fault } of readLines(file, header)) {
      const read = fault ? null : readLine(cells, rules.region, { kept, guessed });
      const faults = [...(fault ? [fault] : []), ...(read?.faults ?? [])];
      if (read && faults.length === 0)
        faults.push(...stage(staging, questions, read.line, createdAt, 'join_order' in cells));
      if (faults.length > 0) rejected += 1;
      else for (const [column, left] of read?.ignored ?? []) addIgnored(ignored, column, number, left);
      for (const { field, message } of faults)
        if (errors.length < ERRORS_MAX) errors.push({ line: number, field, message });
      if (rejected === REJECTED_MAX) {
        const message = `is the last that was read, because ${REJECTED_MAX} lines were rejected`;
        errors.splice(-1, 1, { line: number, field: 'line', message });
        break;
      }
      lines += 1;
      if (lines % LOOK_LINES !== 0 || performance.now() - since < SLICE_MS) continue;
      this.requireGoingOn(options);
      onLines(lines);
      await setImmediate();
      since = performance.now();
    }
    return { questions, rejected, errors, ignored };
  }

  /** Writes the staged lines chunk by chunk, or only previews them, and adds the outcomes up. */
  private async writeLines(
    staging: Staging,
    run: Run,
    firstSeq: number,
    options: ImportOptions,
    onLines: (lines: number) => void,
  ): Promise<Omit<ChunkOutcome, 'renamings'>> {
    const sums = { imported: 0, skipped: 0, unresolved: 0 };
    for (const lines of staging.chunks(firstSeq)) {
      this.requireGoingOn(options);
      const outcome = options.isDryRun
        ? await this.importer.preview(run, lines)
        : await this.importer.write(run, lines);
      staging.rename(outcome.renamings);
      sums.imported += outcome.imported;
      sums.skipped += outcome.skipped;
      sums.unresolved += outcome.unresolved;
      onLines(lines.length);
      await setImmediate();
    }
    return sums;
  }

  /** @throws Problem `SHUTTING_DOWN`, or any if the client of a dry run has left */
  private requireGoingOn({ isDryRun, ended }: ImportOptions): void {
    if (this.isStopped || this.lifecycle.isStopping) throw new Problem('SHUTTING_DOWN');
    if (isDryRun && ended?.aborted) throw new Problem('MALFORMED_REQUEST');
  }
}

function addIgnored(
  ignored: Map<Column, IgnoredValues>,
  column: Column,
  line: number,
  { field, message }: FieldFault,
): void {
  const { amount, first } = ignored.get(column) ?? { amount: 0, first: [] };
  ignored.set(column, {
    amount: amount + 1,
    first: amount < IGNORED_SHOWN ? [...first, { line, field, message }] : first,
  });
}

function reportOf(
  { uses }: Header,
  { rejected, errors, ignored }: StagedFile,
  { imported, skipped, unresolved }: Omit<ChunkOutcome, 'renamings'>,
): ImportReport {
  const columns = uses.map(({ header, column, isKept }) => {
    const left = !isKept && column !== null ? ignored.get(column) : undefined;
    return {
      header: header.slice(0, COLUMN_LENGTH_MAX).toWellFormed(),
      column,
      ignored_values: left?.amount ?? 0,
      first_ignored: left?.first ?? [],
    };
  });
  return {
    imported,
    skipped,
    rejected,
    unresolved_referrals: unresolved,
    ignored_values: columns.reduce((sum, { ignored_values: amount }) => sum + amount, 0),
    columns,
    ignored_columns: columns.flatMap(({ header, column }) => (column === null && header !== '' ? [header] : [])),
    errors,
  };
}

/** Stages a sound line, and adds its questions. Returns the faults that other lines or the waitlist cause. */
function stage(
  staging: Staging,
  questions: ImportQuestions,
  line: Line,
  importedAt: Date,
  isNumbered: boolean,
): FieldFault[] {
  const { joinOrder, createdAt, keys, removedAt } = line;
  if (isNumbered && joinOrder === null)
    return [broken('required', 'is required in each line of a file that has it', 'join_order')];
  const sort = joinOrder ?? (createdAt ?? importedAt).getTime();
  if (staging.isTaken(sort)) return [broken('unique', 'must not be given twice', 'join_order')];
  const answers = questions.answersOf(line.answers);
  if (typeof answers === 'string') return [broken('max_items', answers, 'answers')];
  staging.add(sort, {
    facts: {
      ...keys,
      email: line.email,
      registeredEmail: line.registeredEmail,
      phone: line.phone,
      firstName: line.firstName,
      lastName: line.lastName,
      metadata: line.metadata,
      answers: answers.length > 0 ? answers : null,
      spotsAdvanced: line.spotsAdvanced,
      creditReasons: line.creditReasons,
      status: removedAt === null ? 'waiting' : 'offboarded',
      verified: line.verified,
      removedAt,
      removedPriority: removedAt && (line.removedPriority ?? 0),
      removedReason: line.removedReason,
      joinedPriority: line.joinedPriority,
      offerExpiresAt: null,
      createdAt: createdAt ?? importedAt,
    },
    uuid: line.uuid,
    token: line.referralToken,
    referredBy: line.referredByToken,
    amountReferred: line.amountReferred,
    credit: line.credit,
  });
  return [];
}

/**
 * Reads a whole file: its hash, header and the bounds of its lines. Calls `onHeader` once a valid header has arrived.
 * @throws Problem `INVALID_CSV`
 */
async function survey(
  file: AsyncIterable<Buffer>,
  mapping: Mapping,
  onChunk: (chunk: Buffer) => Promise<void> = async () => undefined,
  onHeader: () => void = () => undefined,
): Promise<SurveyedFile> {
  const hash = createHash('sha256');
  let counter = new LineCounter(null);
  const start: Buffer[] = [];
  let header: Header | undefined;
  const accept = () => {
    const begin = Buffer.concat(start);
    const accepted = readHeader(begin, mapping);
    counter = new LineCounter(accepted.delimiter);
    counter.add(begin);
    onHeader();
    return accepted;
  };
  for await (const chunk of file) {
    hash.update(chunk);
    counter.add(chunk);
    if (!header) start.push(chunk);
    if (!header && counter.hasHeader) header = accept();
    await onChunk(chunk);
  }
  header ??= accept();
  return { identity: identityOf(hash.digest('hex'), header), header, lines: counter.lines };
}
