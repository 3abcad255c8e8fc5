import { QueryFailedError } from 'typeorm';
import { Problem } from '../problem.js';

/** The transaction was given up by the database, not refused: the same again may succeed. Source: docs/decisions/retries.md. */
const GIVEN_UP = new Set<string | number>([
  1213, // deadlock; in a Galera cluster also a certification conflict at COMMIT
  1205, // lock wait timeout
  1020, // record changed since the snapshot (MariaDB)
  1180, // error during commit
  3101, // certification conflict (Group Replication)
]);

/** The connection or the server is of no use now; another may be. */
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
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'POOL_ENQUEUELIMIT',
]);

const DUPLICATE_KEY = new Set<string | number>([1062, 'ERR_SQLITE_CONSTRAINT_UNIQUE']);
const INDEX_EXISTS = new Set<string | number>([1061]);
const SQLITE_BUSY = 5;
const RETRY_AFTER_SECONDS = 2;

/** The code for which the same may succeed when it is tried again, one of those above; undefined for any other error. */
export function reasonToRepeat(error: unknown): string | undefined {
  const code = codeAmong(GIVEN_UP, error) ?? codeAmong(AWAY, error);
  return code === undefined ? (isBusy(error) ? 'SQLITE_BUSY' : undefined) : String(code);
}

export function isAway(error: unknown): boolean {
  return codeAmong(AWAY, error) !== undefined;
}

export function isDuplicateKey(error: unknown): boolean {
  return (
    codeAmong(DUPLICATE_KEY, error) !== undefined ||
    (error instanceof Error && error.message.startsWith('UNIQUE constraint failed'))
  );
}

export function isIndexThere(error: unknown): boolean {
  return (
    codeAmong(INDEX_EXISTS, error) !== undefined ||
    (error instanceof Error && /^index \S+ already exists$/.test(error.message))
  );
}

/** Another program, such as the command line, writes to the embedded database. The low byte of SQLite's code tells. */
function isBusy(error: unknown): boolean {
  const { errcode } = (error instanceof QueryFailedError ? error.driverError : error) as { errcode?: number };
  return errcode !== undefined && (errcode & 0xff) === SQLITE_BUSY;
}

/** The database's absence as a {@link Problem}; any other error as it came. */
export function asProblem(error: unknown): unknown {
  if (reasonToRepeat(error) === undefined) return error;
  return new Problem('unavailable', 'DATABASE_UNAVAILABLE', 'The service cannot reach its database; try again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}

function codeAmong(codes: ReadonlySet<string | number>, error: unknown): string | number | undefined {
  const source: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (!(source instanceof Error)) return undefined;
  const { code, errno } = source as Error & { code?: string; errno?: number };
  return [errno, code].find((known) => known !== undefined && codes.has(known));
}
