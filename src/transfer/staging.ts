import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite';
import type { Credit } from '../queue/record/waiter.js';
import type { ImportedFacts, ImportLine, Renaming } from '../queue/import/chunk.js';

/** Lines of one chunk: some ten milliseconds of work for the database, so that signups are not delayed. */
const LINES_MAX = 500;
/** A chunk of large lines ends sooner: one INSERT must fit in a packet of the database. */
const CHUNK_BYTES_MAX = 1024 * 1024;
/** Memory for the pages of the file. */
const CACHE_KIB = 8 * 1024;

/** `none`: the referrer was unknown to the service that wrote the file. */
const isCredited = (credit: Credit | null) => credit === null || credit === 'none' || credit === 'credited';

/** A line that is not rejected. */
export interface StagedLine {
  readonly facts: Omit<ImportedFacts, 'importedReferrals'>;
  readonly uuid: string | null;
  readonly token: string | null;
  readonly referredBy: string | null;
  readonly amountReferred: number;
  readonly credit: Credit | null;
}

interface Row {
  readonly id: number;
  readonly sort: number;
  readonly repeated: number;
  readonly token: string | null;
  readonly named: number | null;
  readonly amount: number;
  readonly uuid: string | null;
  readonly referred_by: string | null;
  readonly credit: Credit | null;
  readonly renamed: string | null;
  readonly in_file: number;
  readonly facts: string;
}

/**
 * The lines of a file, on disk because memory may not hold them all while they are sorted and matched. It is an SQLite
 * database for the time of one import, without a journal on disk and without waiting for the disk. Each call takes some
 * microseconds, or milliseconds for a chunk.
 */
export class Staging {
  /** Numbers that the lines need: with `join_order`, as many as it spans. */
  numbersNeeded = 0;
  private lines = 0;
  private first = Infinity;
  private last = -Infinity;
  private hasAliases = false;
  private readonly database: DatabaseSyncInstance;
  private readonly statements: Readonly<Record<keyof typeof STATEMENTS, StatementSyncInstance>>;

  /** `isNumbered`: the file has `join_order`, so a number that no line has stays free. */
  constructor(
    path: string,
    private readonly isNumbered: boolean,
  ) {
    this.database = new DatabaseSync(path);
    this.database.exec(`
      PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -${CACHE_KIB};
      BEGIN;
      CREATE TABLE line (id INTEGER PRIMARY KEY, sort INTEGER, repeated INTEGER, token TEXT, amount INTEGER, uuid TEXT,
        referred_by TEXT, credit TEXT, facts TEXT);
      CREATE ${isNumbered ? 'UNIQUE' : ''} INDEX line_order ON line (sort, id);
      CREATE TABLE person (key TEXT PRIMARY KEY, line INTEGER) WITHOUT ROWID;
      CREATE TABLE token (token TEXT PRIMARY KEY, line INTEGER, renamed TEXT) WITHOUT ROWID;
      CREATE TABLE alias (line INTEGER, token TEXT, PRIMARY KEY (line, token)) WITHOUT ROWID;
      CREATE TABLE named (token TEXT PRIMARY KEY, amount INTEGER) WITHOUT ROWID`);
    this.statements = Object.fromEntries(
      Object.entries(STATEMENTS).map(([name, sql]) => [name, this.database.prepare(sql)]),
    ) as Record<keyof typeof STATEMENTS, StatementSyncInstance>;
  }

  /** Lines so far. */
  get length(): number {
    return this.lines;
  }

  /** Whether an earlier line has this number. */
  isTaken(number: number): boolean {
    return this.isNumbered && this.statements.findBySort.get(number) !== undefined;
  }

  /** Adds a line; `sort` is its `join_order`, or its time in a file without that column. */
  add(sort: number, { facts, uuid, token, referredBy, amountReferred, credit }: StagedLine): void {
    const { addToken, addAlias, countReferral, addLine } = this.statements;
    const id = this.lines;
    const earlier = this.findEarlier(id, facts);
    const isNewToken = token !== null && addToken.run(token, earlier ?? id).changes === 1;
    if (isNewToken && earlier !== null) {
      addAlias.run(earlier, token);
      this.hasAliases = true;
    }
    // A record cannot refer itself.
    const referrer = isNewToken && referredBy === token ? null : referredBy;
    // A repeated line is skipped, and its referral with it.
    if (referrer !== null && earlier === null && isCredited(credit)) countReferral.run(referrer);
    const ownToken = isNewToken && earlier === null ? token : null;
    addLine.run(
      id,
      sort,
      earlier === null ? 0 : 1,
      ownToken,
      amountReferred,
      uuid,
      referrer,
      credit,
      JSON.stringify(facts),
    );
    this.lines += 1;
    this.first = Math.min(this.first, sort);
    this.last = Math.max(this.last, sort);
    this.numbersNeeded = this.isNumbered ? this.last - this.first + 1 : this.lines;
  }

  /** The lines in the order of their numbers, from `firstSeq` on, in chunks. */
  *chunks(firstSeq: number): Generator<readonly ImportLine[]> {
    let after: Pick<Row, 'sort' | 'id'> = { sort: -1, id: -1 };
    for (let done = 0; done < this.lines;) {
      const rows = this.statements.nextLines.all(after.sort, after.id) as unknown as Row[];
      let bytes = 0;
      const end = rows.findIndex(({ facts }) => (bytes += facts.length) > CHUNK_BYTES_MAX);
      const some = end < 0 ? rows : rows.slice(0, Math.max(1, end));
      const before = done;
      yield some.map((row, index) =>
        this.lineOf(row, firstSeq + (this.isNumbered ? row.sort - this.first : before + index)),
      );
      done += some.length;
      after = some.at(-1) as Row;
    }
  }

  /** In the lines to come, referrers get the tokens that their records have. */
  rename(renamings: readonly Renaming[]): void {
    for (const { from, to } of renamings) this.statements.rename.run(to, from);
  }

  close(): void {
    // Empties the file, open until its statements are collected. A full disk has already ended the transaction.
    if (this.database.isTransaction) this.database.exec('ROLLBACK');
    this.database.close();
  }

  /** The earlier line about the person of this line; null if this is the first, which then has the person's keys. */
  private findEarlier(id: number, { emailKey, phoneKey }: StagedLine['facts']): number | null {
    const { findPerson, addPerson, dropPerson } = this.statements;
    const added: string[] = [];
    for (const key of [emailKey && `e${emailKey}`, phoneKey && `p${phoneKey}`]) {
      if (!key) continue;
      if (addPerson.run(key, id).changes === 1) {
        added.push(key);
        continue;
      }
      for (const wrong of added) dropPerson.run(wrong);
      return (findPerson.get(key) as { line: number }).line;
    }
    return null;
  }

  private lineOf(row: Row, seq: number): ImportLine {
    const facts = JSON.parse(row.facts) as Record<'createdAt' | 'removedAt', string | null> &
      Omit<StagedLine['facts'], 'createdAt' | 'removedAt'>;
    const aliases = this.hasAliases ? this.aliasesOf(row.id) : [];
    const inFile = aliases.reduce((sum, { named }) => sum + named, row.named ?? 0);
    return {
      seq,
      facts: {
        ...facts,
        createdAt: new Date(facts.createdAt as string),
        removedAt: facts.removedAt === null ? null : new Date(facts.removedAt),
        // Referrals of people that the file no longer has.
        importedReferrals: Math.max(0, row.amount - inFile),
      },
      uuid: row.uuid,
      token: row.token,
      otherTokens: aliases.map(({ token }) => token),
      isRepeated: row.repeated === 1,
      credit: row.credit,
      referrer:
        row.referred_by === null ? null : { token: row.referred_by, renamed: row.renamed, isInFile: row.in_file === 1 },
    };
  }

  /** The tokens of later lines about the person of this line, with the referrals that name them. */
  private aliasesOf(id: number): { readonly token: string; readonly named: number }[] {
    const rows: unknown = this.statements.findAliases.all(id);
    return rows as { token: string; named: number }[];
  }
}

const STATEMENTS = {
  findBySort: 'SELECT 1 FROM line WHERE sort = ?',
  findPerson: 'SELECT line FROM person WHERE key = ?',
  addPerson: 'INSERT OR IGNORE INTO person VALUES (?, ?)',
  dropPerson: 'DELETE FROM person WHERE key = ?',
  addToken: 'INSERT OR IGNORE INTO token VALUES (?, ?, NULL)',
  addAlias: 'INSERT OR IGNORE INTO alias VALUES (?, ?)',
  findAliases:
    'SELECT a.token, COALESCE(n.amount, 0) AS named FROM alias a LEFT JOIN named n ON n.token = a.token WHERE a.line = ?',
  countReferral: 'INSERT INTO named VALUES (?, 1) ON CONFLICT DO UPDATE SET amount = amount + 1',
  addLine: 'INSERT INTO line VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  rename: 'UPDATE token SET renamed = ? WHERE token = ?',
  nextLines: `SELECT l.*, n.amount AS named, t.renamed, t.token IS NOT NULL AS in_file
    FROM line l LEFT JOIN named n ON n.token = l.token LEFT JOIN token t ON t.token = l.referred_by
    WHERE (l.sort, l.id) > (?, ?) ORDER BY l.sort, l.id LIMIT ${LINES_MAX}`,
} as const;
