import { ConfigError } from './config/config.js';
import { SchemaError } from './database/database.js';
import { Problem } from './problem.js';

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'PROTOCOL_CONNECTION_LOST',
]);

/** Why the program can't start or go on, in one line (a line a variable, where several are wrong). */
export function explainStartFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof SchemaError || error instanceof Problem) return error.message;
  const { code, port, message } = (error ?? {}) as { code?: string; port?: number; message?: string };
  if (code === 'EADDRINUSE') return `PORT: ${port} is taken by another program; set PORT to a free one.`;
  if (code === 'EACCES' && port !== undefined) return `PORT: ${port} needs more rights than this user has.`;
  if (code !== undefined && UNREACHABLE.has(code)) return `DATABASE_URL: the database can't be reached (${code}).`;
  if (code === 'ER_ACCESS_DENIED_ERROR' || code === 'ER_DBACCESS_DENIED_ERROR')
    return 'DATABASE_URL: the database refuses this user or password.';
  if (code === 'ER_BAD_DB_ERROR') return 'DATABASE_URL: there is no such database on the server.';
  if (code?.startsWith('ERR_SQLITE')) return `DATABASE_URL: the embedded database can't be opened (${message}).`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
