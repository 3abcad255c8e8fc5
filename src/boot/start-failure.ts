import { type Config, ConfigError } from '../platform/config/config.js';
import { UNREACHABLE } from '../platform/database/database-error.js';
import { SchemaError } from '../platform/database/migrator.js';
import { Problem } from '../platform/problems/problem.js';

/** What the database's driver says on connecting, by code. */
const DATABASE_FAULTS: Readonly<Record<string, string>> = {
  ...fill('the server cannot be reached', UNREACHABLE),
  ...fill('the server refuses this user or password', ['ER_ACCESS_DENIED_ERROR', 'ER_DBACCESS_DENIED_ERROR']),
  ...fill('the server has no such database', ['ER_BAD_DB_ERROR']),
  ...fill('the server takes no more connections', ['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS']),
  ...fill('the server speaks no TLS; leave out ssl=true', ['HANDSHAKE_NO_SSL_SUPPORT']),
  ...fill(
    'the certificate of the server is for another name than the URL has, or is not trusted; NODE_EXTRA_CA_CERTS names a file of authorities to trust',
    [
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'HANDSHAKE_SSL_ERROR',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
  ),
};

function fill(words: string, codes: readonly string[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, words]));
}

/** Why the program can't start or go on, in one line (a line a variable, where several are wrong). */
export function explainStartFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof SchemaError || error instanceof Problem) return error.message;
  const { code, message, path } = (error ?? {}) as { code?: string; message?: string; path?: string };
  const databaseFault = DATABASE_FAULTS[code ?? ''];
  if (databaseFault) return `DATABASE_URL: ${databaseFault} (${code}).`;
  if (code?.startsWith('ERR_SQLITE')) return `DATABASE_URL: the embedded database cannot be opened (${message}).`;
  if (path !== undefined) return `DATABASE_URL: the embedded database needs ${path}, which cannot be used (${code}).`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** An error of listening as one that names the variable at fault; any other as it came. */
export function asListenError(error: unknown, { port, host }: Config): unknown {
  switch ((error as NodeJS.ErrnoException | null)?.code) {
    case 'EADDRINUSE':
      return new ConfigError(`PORT: ${port} is taken by another program; set PORT to a free one.`);
    case 'EACCES':
      return new ConfigError(`PORT: ${port} needs more rights than this user has; set PORT to 1024 or more.`);
    case 'EADDRNOTAVAIL':
    case 'EAI_AGAIN':
    case 'ENOTFOUND':
      return new ConfigError(`HOST: ${host} is no address of this machine.`);
    default:
      return error;
  }
}
