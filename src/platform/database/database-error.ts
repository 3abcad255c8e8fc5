import { QueryFailedError } from 'typeorm';
import { Problem } from '../problems/problem.js';

/** Codes of the system or the driver for a connection that could not be made, or ended too early. */
export const UNREACHABLE = [
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
] as const;

const LOCK_WAIT_TIMEOUT = 1205;
/** The database gave the transaction up; a repeat may succeed. Source: docs/decisions/retries.md. */
const GIVEN_UP = new Set<string | number>([
  1213, // deadlock; in a Galera cluster also a certification conflict at COMMIT
  LOCK_WAIT_TIMEOUT,
  1020, // record changed since the snapshot (MariaDB)
  1180, // error during commit
  1317, // statement interrupted
  1412, // a table's definition changed since the snapshot: a migration
  3101, // certification conflict (Group Replication)
]);

/** This connection or server cannot be used now; another may. Any error that the driver marks as fatal counts too. */
const AWAY = new Set<string | number>([
  1040, // too many connections
  1047, // node not yet part of its cluster
  1053, // server shutdown in progress
  1203, // user has too many connections
  1290, // read-only
  1792, // read-only transaction
  1836, // read-only mode
  1927, // connection killed
  2006,
  2013,
  3100, // replication hook failed: the member is leaving
  4031, // disconnected by the server
  ...UNREACHABLE,
  'EPIPE',
]);

/** A repeat would fail too: storage is full or broken, or the statement exceeded the server's time limit. */
const UNABLE = new Set<string | number>([
  1021, // disk full
  1026, // error writing file
  1030, // error of the storage engine, such as a full disk
  1114, // table full
  1969, // max_statement_time (MariaDB)
  3024, // max_execution_time (MySQL)
]);
/** The same for SQLite: read-only, I/O error, full. */
const SQLITE_UNABLE = new Set<number | undefined>([8, 10, 13]);

/** MySQL's code, and SQLite's extended codes for a unique index and a primary key. */
const DUPLICATE_KEY = new Set<number | undefined>([1062, 2067, 1555]);
/** Of a change of the schema that was carried out before: duplicate column or index, or nothing to drop. */
const DONE_ALREADY = new Set<number | undefined>([1060, 1061, 1091]);
const SQLITE_BUSY = 5;

/** The error's code if a repeat may succeed (`SQLITE_BUSY` and `FATAL` for codes not listed); otherwise undefined. */
export function reasonToRepeat(error: unknown): string | undefined {
  if (sqliteCode(error) === SQLITE_BUSY) return 'SQLITE_BUSY';
  const code = codeIn(error, GIVEN_UP) ?? codeIn(error, AWAY);
  if (code !== undefined) return String(code);
  return isFatal(error) ? 'FATAL' : undefined;
}

/** Whether another transaction held a lock for too long, which does not count as a failure. */
export function isLocked(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY || driverError(error).errno === LOCK_WAIT_TIMEOUT;
}

export function isAway(error: unknown): boolean {
  return codeIn(error, AWAY) !== undefined || isFatal(error);
}

export function isDuplicateKey(error: unknown): boolean {
  const { errno, errcode } = driverError(error);
  return DUPLICATE_KEY.has(errno ?? errcode);
}

/** Whether the server completed this change of the schema before: its migrator was killed before it recorded that. */
export function isDoneAlready(error: unknown): boolean {
  const { errno, message = '' } = driverError(error);
  return DONE_ALREADY.has(errno) || /^(index \S+ already exists|no such index: \S+)$/.test(message);
}

/** A {@link Problem} if the database is away; otherwise the error itself. */
export function asProblem(error: unknown): unknown {
  const isAble = codeIn(error, UNABLE) === undefined && !SQLITE_UNABLE.has(sqliteCode(error));
  if (isAble && reasonToRepeat(error) === undefined) return error;
  return new Problem('DATABASE_UNAVAILABLE', { cause: error });
}

function codeIn(error: unknown, codes: ReadonlySet<string | number>): string | number | undefined {
  const { code, errno } = driverError(error);
  return [errno, code].find((known) => known !== undefined && codes.has(known));
}

/** mysql2 marks a lost connection that has no code, such as a failed handshake, as fatal. */
function isFatal(error: unknown): boolean {
  return driverError(error).fatal === true;
}

/** The low byte of SQLite's extended code. BUSY means that another program, such as the CLI, is writing. */
function sqliteCode(error: unknown): number | undefined {
  const { errcode } = driverError(error);
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** What mysql2 (`errno`, `fatal`), SQLite (`errcode`) or the system (`code`) says of a failure. */
type Failure = Partial<NodeJS.ErrnoException> & { readonly errcode?: number; readonly fatal?: boolean };

function driverError(error: unknown): Failure {
  const source: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return source ?? {};
}
