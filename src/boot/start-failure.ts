import { type Config, ConfigError } from '../platform/config/config.js';
import { UNREACHABLE } from '../platform/database/database-error.js';
import { SchemaError } from '../platform/database/migrator.js';
import { Problem } from '../platform/problems/problem.js';

/** Explanations of connection errors, by the code of the database driver. */
const DATABASE_FAULTS: Readonly<Record<string, string>> = {
  ...forCodes('the server cannot be reached', UNREACHABLE),
  ...forCodes('the server refuses this user or password', ['ER_ACCESS_DENIED_ERROR', 'ER_DBACCESS_DENIED_ERROR']),
  ...forCodes('the server has no such database', ['ER_BAD_DB_ERROR']),
  ...forCodes('the server has too many connections', ['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS']),
  ...forCodes('the server does not support TLS; remove ssl=true', ['HANDSHAKE_NO_SSL_SUPPORT']),
  ...forCodes(
    'the server certificate does not match the host name or is not trusted; set NODE_EXTRA_CA_CERTS to a file of CA certificates to trust',
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

function forCodes(explanation: string, codes: readonly string[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, explanation]));
}

/** The reason why the program cannot start, in one line, or one line per wrong variable. */
export function explainStartFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof SchemaError || error instanceof Problem) return error.message;
  const { code, message, path } = (error ?? {}) as { code?: string; message?: string; path?: string };
  const databaseFault = DATABASE_FAULTS[code ?? ''];
  if (databaseFault) return `DATABASE_URL: ${databaseFault} (${code}).`;
  if (code?.startsWith('ERR_SQLITE')) return `DATABASE_URL: the embedded database cannot be opened (${message}).`;
  if (path !== undefined) return `DATABASE_URL: the embedded database cannot use ${path} (${code}).`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Turns an error of `listen` into one that names the variable to change. Other errors are returned unchanged. */
export function asListenError(error: unknown, { port, host }: Config): unknown {
  switch ((error as NodeJS.ErrnoException | null)?.code) {
    case 'EADDRINUSE':
      return new ConfigError(`PORT: ${port} is in use by another program; set PORT to a free port.`);
    case 'EACCES':
      return new ConfigError(`PORT: ${port} needs privileges that this user lacks; set PORT to 1024 or more.`);
    case 'EADDRNOTAVAIL':
    case 'EAI_AGAIN':
    case 'ENOTFOUND':
      return new ConfigError(`HOST: ${host} is not an address of this machine.`);
    default:
      return error;
  }
}
