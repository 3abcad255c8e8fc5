import type { LookupAddress } from 'node:dns';
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Webhook as Signer } from 'standardwebhooks';
import type { Failure } from '../outbox/delivery.entity.js';
import { ForbiddenAddressError, SsrfGuard } from './ssrf-guard.js';

/** From the name lookup to the status of the response. */
const DEADLINE_MS = 10_000;
/** A response body is read and ignored, so that the connection can be reused. A longer or a slower one closes it. */
const BODY_BYTES_MAX = 64 * 1024;
const BODY_MS = 1_000;
/** System calls of name lookups, which fail with the same codes as connections. */
const DNS_CALL = /^(query|getaddrinfo)/;
/** Codes of failed handshakes, and of certificates that are not accepted. */
const TLS_CODE = /^(EPROTO|ERR_SSL|ERR_TLS|UNABLE_TO_|INVALID_|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)|CERT/;
const FAILURE_OF_CODE: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timeout',
};
/** Idle connections to a receiver are kept for a burst of events. */
const AGENT = { keepAlive: true, maxFreeSockets: 2, timeout: 15_000 };

/** One attempt of a delivery. */
export interface Message {
  readonly id: string;
  readonly url: string;
  /** Sent byte for byte, as it is signed. */
  readonly body: string;
  /** `whsec_…`. The message gets one signature per secret. */
  readonly secrets: readonly string[];
}

/** How an attempt ended: the status of the response, or why there was none. */
export type Outcome =
  { readonly status: number; readonly failure: null } | { readonly status: null; readonly failure: Failure };

/** Sends messages as Standard Webhooks says. */
@Injectable()
export class WebhookSender {
  private readonly agents = { 'http:': new HttpAgent(AGENT), 'https:': new HttpsAgent(AGENT) };

  constructor(private readonly ssrf: SsrfGuard) {}

  /** Never throws. `stop` ends the attempt early. */
  async send(message: Message, stop: AbortSignal): Promise<Outcome> {
    // Node.js 20 may collect an `AbortSignal.timeout` that only `any` holds; it would never fire.
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), DEADLINE_MS);
    const signal = AbortSignal.any([stop, deadline.signal]);
    try {
      return { status: await this.exchange(message, signal), failure: null };
    } catch (error) {
      return { status: null, failure: signal.aborted ? 'timeout' : failureOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  /** The status of the response. */
  private async exchange(message: Message, signal: AbortSignal): Promise<number> {
    const target = new URL(message.url);
    const addresses = await this.ssrf.resolve(target, signal);
    const isTls = target.protocol === 'https:';
    const send = isTls ? httpsRequest : httpRequest;
    const agent = this.agents[isTls ? 'https:' : 'http:'];
    const options = {
      method: 'POST',
      headers: headersOf(message, new Date()),
      agent,
      signal,
      lookup: pinnedTo(addresses),
    };
    const exchangeOnce = () =>
      new Promise<number>((resolve, reject) => {
        let isAnswered = false;
        const sent = send(target, options, (response) => {
          isAnswered = true;
          ignoreBody(response);
          resolve(response.statusCode as number);
        });
        sent.on('error', (error) => {
          // Again on another connection: the receiver may have closed this idle one just before.
          if (sent.reusedSocket && !isAnswered && !signal.aborted) exchangeOnce().then(resolve, reject);
          else reject(error);
        });
        sent.end(message.body);
      });
    return exchangeOnce();
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof ForbiddenAddressError) return 'blocked';
  const { code = '', syscall = '' } = error as { readonly code?: string; readonly syscall?: string };
  if (DNS_CALL.test(syscall)) return 'dns';
  if (TLS_CODE.test(code)) return 'tls';
  // Codes of Node's HTTP parser.
  if (code.startsWith('HPE_')) return 'protocol';
  return FAILURE_OF_CODE[code] ?? 'other';
}

function headersOf({ id, body, secrets }: Message, now: Date) {
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'Waitlist-Service',
    'webhook-id': id,
    'webhook-timestamp': Math.floor(now.getTime() / 1000),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, now, body)).join(' '),
  };
}

/** Answers with the checked addresses whatever the DNS says by now. Node.js asks for one or for all. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const all: LookupAddress[] = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
}

function ignoreBody(response: IncomingMessage): void {
  let length = 0;
  const timer = setTimeout(() => response.destroy(), BODY_MS);
  response.on('close', () => clearTimeout(timer));
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) response.destroy();
  });
  // The status has counted already.
  response.on('error', () => undefined);
}
