import { Inject, Injectable } from '@nestjs/common';
import type { NodemailerError } from 'nodemailer';
import { BackgroundTasks } from '../platform/background-task.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { chunksOf } from '../platform/database/dialect.js';

/** More than `MAILBOX_HOUR_MAX`, so that the mails to one slow mailbox leave connections free. */
export const CONNECTIONS_MAX = 10;
/** A server that is silent for this long is unavailable. */
const SILENCE_MS = 10_000;
/** How often a server that is unavailable is tried. */
const PROBE_MS = 5_000;
/** Limit on a whole attempt: a server could send each of some ten replies just before `SILENCE_MS` ends. */
const ATTEMPT_MAX_MS = 60_000;
/** After this time, another process sends the mails of a process that died. */
export const LEASE_MS = 2 * ATTEMPT_MAX_MS;
/** Characters in one encoded word of a subject: at most 75 in all (RFC 2047), up to four bytes each, in base64. */
const WORD_LENGTH = 10;
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
  /** The server took no connection, so it did not see the mail. */
  | { readonly outcome: 'unavailable' }
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
export class MailSender {
  private pool: ReturnType<typeof createPool> | undefined;
  private isDown = false;
  private isClosed = false;
  private probing: Promise<boolean> | undefined;
  private nextProbeMs = 0;

  constructor(
    private readonly tasks: BackgroundTasks,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  get isConfigured(): boolean {
    return this.config.mail !== null;
  }

  /** Resolves whatever the server does. Throws without an `SMTP_URL`: check `isConfigured`. */
  async send({ id, to, subject, ...composed }: Message): Promise<Receipt> {
    const { from } = this.mail;
    try {
      const pool = await this.open();
      await pool.sendMail({
        ...composed,
        subject: literal(subject),
        from,
        // An object, because a text could be parsed as several addresses.
        to: { name: '', address: to },
        messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
        headers: HEADERS,
        signal: AbortSignal.timeout(ATTEMPT_MAX_MS),
      });
      return { outcome: 'sent' };
    } catch (error) {
      const failure = error as NodemailerError;
      const { permanent, code, command, responseCode } = failure;
      if (isUnconnected(failure) && !(await this.probe())) return { outcome: 'unavailable' };
      const isRejected = permanent === true && (command === 'RCPT TO' || command === 'DATA');
      return { outcome: isRejected ? 'rejected' : 'deferred', reason: { code, command, status: responseCode } };
    }
  }

  /** Whether to send now. Tries a server that was unavailable again, at most every {@link PROBE_MS}. */
  async isAvailable(): Promise<boolean> {
    return !this.isDown || (performance.now() >= this.nextProbeMs && this.probe());
  }

  /** Ends all attempts under way. One whose session had begun counts, because the server may have taken the mail. */
  async close(): Promise<void> {
    this.isClosed = true;
    (await this.pool)?.close({ force: true });
  }

  private get mail(): NonNullable<Config['mail']> {
    if (!this.config.mail) throw new Error('There is no SMTP_URL');
    return this.config.mail;
  }

  private open(): ReturnType<typeof createPool> {
    return (this.pool ??= createPool(this.mail.server));
  }

  /** Whether the server takes connections now. Many attempts that fail together share one probe. */
  private async probe(): Promise<boolean> {
    if (this.isClosed) return false;
    this.probing ??= this.verify().finally(() => (this.probing = undefined));
    return this.probing;
  }

  private async verify(): Promise<boolean> {
    const { log } = this.tasks;
    try {
      await (await this.open()).verify();
      if (this.isDown) log.info({}, 'the mail server is available again');
      this.isDown = false;
    } catch (error) {
      const { code, command, responseCode: status } = error as NodemailerError;
      if (!this.isDown) log.warn({ reason: { code, command, status } }, 'the mail server is unavailable: mails wait');
      this.isDown = true;
      this.nextProbeMs = performance.now() + PROBE_MS;
    }
    return !this.isDown;
  }
}

/**
 * Whether the attempt ended before a session began. Later, the server may have taken the mail though no status came, so
 * the attempt counts: else it could be repeated without end.
 */
function isUnconnected({ code, command, syscall, timeoutType }: NodemailerError): boolean {
  if (timeoutType) return timeoutType !== 'SOCKET_TIMEOUT';
  // Without a command, the library's own: the server closed each connection before its greeting.
  return code === 'EDNS' || code === 'ETLS' || syscall === 'connect' || (code === 'ECONNECTION' && !command);
}

/**
 * A subject that mail programs show unchanged. The library sends ASCII as it is, and programs decode `=?…?=` (RFC
 * 2047), even into characters that no field takes.
 */
function literal(subject: string): string {
  if (!subject.includes('=?')) return subject;
  const words = chunksOf([...subject], WORD_LENGTH).map((word) => Buffer.from(word.join('')).toString('base64'));
  return words.map((word) => `=?utf-8?B?${word}?=`).join(' ');
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
