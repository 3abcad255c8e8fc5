import { ConfigError } from '../platform/config/config.js';
import { UNREACHABLE } from '../platform/database/database-error.js';
import { SchemaError } from '../platform/database/server-check.js';
import { Problem } from '../platform/problems/problem.js';

const UNREACHABLE_CODES: ReadonlySet<string | undefined> = new Set(UNREACHABLE);
/** A refusal by the server, or of its certificate. The driver's message names the user, the database or the host. */
const REFUSAL_CODE = /^ER_(ACCESS|DBACCESS|BAD_DB|CON_COUNT|TOO_MANY)|^HANDSHAKE_|CERT|SIGNATURE/;

/** The reason why the program cannot start, in one line, or one line per wrong variable. */
export function explainStartFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof SchemaError || error instanceof Problem) return error.message;
  type Failure = { code?: string; message?: string; path?: string; reason?: string };
  const { code, message, path, reason } = (error ?? {}) as Failure;
  if (UNREACHABLE_CODES.has(code)) return `DATABASE_URL: the server cannot be reached (${code}).`;
  if (code?.startsWith('ERR_SSL')) return `DATABASE_URL: ${reason} (${code}).`;
  if (REFUSAL_CODE.test(code ?? '')) return `DATABASE_URL: ${message} (${code}).`;
  if (code?.startsWith('ERR_SQLITE')) return `DATABASE_URL: the embedded database cannot be opened (${message}).`;
  if (path !== undefined) return `DATABASE_URL: the embedded database cannot use ${path} (${code}).`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

interface Listening {
  /** The variable that sets the port. */
  readonly variable: string;
  readonly port: number;
  readonly host: string;
}

/** Turns an error of `listen` into one that names the variable to change. Other errors are returned unchanged. */
export function asListenError(error: unknown, { variable, port, host }: Listening): unknown {
  switch ((error as NodeJS.ErrnoException | null)?.code) {
    case 'EADDRINUSE':
      return new ConfigError(`${variable}: ${port} is in use by another program; set ${variable} to a free port.`);
    case 'EACCES':
      return new ConfigError(
        `${variable}: ${port} needs privileges that this user lacks; set ${variable} to 1024 or more.`,
      );
    case 'EADDRNOTAVAIL':
    case 'EAI_AGAIN':
    case 'ENOTFOUND':
      return new ConfigError(`HOST: ${host} is not an address of this machine.`);
    default:
      return error;
  }
}
