import { Inject, Injectable } from '@nestjs/common';
import type { NodemailerError } from 'nodemailer';
import { type Config, CONFIG } from '../platform/config/config.js';

/** More than `MAILBOX_HOUR_MAX` (bounds.ts), so that the mails to one slow mailbox leave connections free. */
export const CONNECTIONS_MAX = 10;
/** A server that is silent for this long is unavailable. */
const SILENCE_MS = 10_000;
/** Limit on a whole attempt: a server could send each of some ten replies just before `SILENCE_MS` ends. */
export const ATTEMPT_MAX_MS = 60_000;
/** RFC 3834: asks for no out-of-office replies. */
const HEADERS = { 'Auto-Submitted': 'auto-generated' };

export interface Message {
  /** The same on every attempt, so that mail programs show a repeated mail once. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

export type Receipt =
  | { readonly outcome: 'sent' }
  /** `rejected`: the server will not take this mail for this recipient. `deferred`: another attempt may succeed. */
  | { readonly outcome: 'rejected' | 'deferred'; readonly reason: Reason };

/** What a log may hold of a failure: the server's own text can name the recipient. */
interface Reason {
  readonly code: string | undefined;
  readonly command: string | undefined;
  readonly status: number | undefined;
}

/** Hands mails to the server of `SMTP_URL`. */
@Injectable()
export class MailTransport {
  private pool: ReturnType<typeof createPool> | undefined;

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  get isConfigured(): boolean {
    return this.config.mail !== null;
  }

  /** Resolves whatever the server does. Throws without an `SMTP_URL`: check `isConfigured`. */
  async send({ id, to, ...composed }: Message): Promise<Receipt> {
    const { mail } = this.config;
    if (!mail) throw new Error('There is no SMTP_URL');
    const { from, server } = mail;
    try {
      const pool = await (this.pool ??= createPool(server));
      await pool.sendMail({
        ...composed,
        from,
        // An object, because a text could be parsed as several addresses.
        to: { name: '', address: to },
        messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
        headers: HEADERS,
        signal: AbortSignal.timeout(ATTEMPT_MAX_MS),
      });
      return { outcome: 'sent' };
    } catch (error) {
      const { permanent, code, command, responseCode } = error as NodemailerError;
      const isRejected = permanent === true && (command === 'RCPT TO' || command === 'DATA');
      return { outcome: isRejected ? 'rejected' : 'deferred', reason: { code, command, status: responseCode } };
    }
  }

  /** Ends all attempts under way, as if the server had not answered. */
  async close(): Promise<void> {
    (await this.pool)?.close({ force: true });
  }
}

/** Imports the library only here, so that a service that sends no mail does not load it. */
async function createPool(server: NonNullable<Config['mail']>['server']) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    ...server,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    // Once, for an idle connection that the server has closed. The dispatcher repeats everything else.
    maxRequeues: 1,
    dnsTimeout: SILENCE_MS,
    connectionTimeout: SILENCE_MS,
    greetingTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    // A mail never contains a file or a page.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
