import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * How the provider answers: by its protocol, that it has failed, with an error of the server, with no JSON, never, or
 * at another address, where anything is accepted.
 */
type Mood = 'well' | 'failed' | 'broken' | 'garbled' | 'silent' | 'elsewhere';

/** The secret that the provider knows. */
export const CAPTCHA_SECRET = 'the-secret-of-the-captcha';
/** Each token that begins with it is good, once. */
const GOOD = 'good-';

/** Each token that begins with it is bad for a reason that the protocol does not know yet. */
const ODD = 'odd-';
/** Each token that begins with it is answered with an error of the caller, without JSON. */
const UNREADABLE = 'unreadable-';
const PATH = '/siteverify';
const ACCEPTED = '{"success":true,"error-codes":[]}';

/** Stands in for `siteverify` of Turnstile and hCaptcha, by their documented protocol. */
export class CaptchaProviderStandIn {
  mood: Mood = 'well';
  readonly asked: Readonly<Record<string, string>>[] = [];
  private readonly seen = new Set<string>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<CaptchaProviderStandIn> {
    const server = createServer();
    const provider = new CaptchaProviderStandIn(server);
    server.on('request', (request, response) => {
      void text(request).then((body) => {
        if (request.url !== PATH) return response.end(ACCEPTED);
        const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
        if (request.method !== 'POST' || !isForm) response.writeHead(405).end();
        else provider.answer(response, Object.fromEntries(new URLSearchParams(body)));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${PATH}`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private answer(response: ServerResponse, fields: Readonly<Record<string, string>>): void {
    this.asked.push(fields);
    if (this.mood === 'silent') return;
    if (this.mood === 'broken') return void response.writeHead(500).end(ACCEPTED);
    if (this.mood === 'garbled') return void response.end('<html>Sorry');
    if (this.mood === 'elsewhere') return void response.writeHead(302, { location: '/elsewhere' }).end();
    if (fields.response?.startsWith(UNREADABLE)) return void response.writeHead(400).end('<html>Bad Request');
    const errors = this.mood === 'failed' ? ['internal-error'] : this.errorsOf(fields);
    const verdict = { success: errors.length === 0, 'error-codes': errors, challenge_ts: '2026-11-21T09:30:00Z' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(verdict));
  }

  private errorsOf({ secret, response: token = '' }: Readonly<Record<string, string>>): string[] {
    if (secret !== CAPTCHA_SECRET) return ['invalid-input-secret'];
    if (token.startsWith(ODD)) return ['not-documented'];
    if (!token.startsWith(GOOD)) return ['invalid-input-response'];
    if (this.seen.has(token)) return ['timeout-or-duplicate'];
    this.seen.add(token);
    return [];
  }
}
