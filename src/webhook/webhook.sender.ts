import type { LookupAddress } from 'node:dns';
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Webhook as Signer } from 'standardwebhooks';
import { AddressGuard } from './address-guard.js';

/** From the name lookup to the status of the response. */
const DEADLINE_MS = 10_000;
/** A response body is read and ignored up to this size, so that the connection can be reused; a longer one closes it. */
const RESPONSE_BYTES_MAX = 64 * 1024;
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

/** Sends messages as Standard Webhooks says. */
@Injectable()
export class WebhookSender {
  private readonly agents = { 'http:': new HttpAgent(AGENT), 'https:': new HttpsAgent(AGENT) };

  constructor(private readonly addresses: AddressGuard) {}

  /** The status of the response. Never throws: null if any failure leaves the attempt without a response. */
  async send(message: Message, stop: AbortSignal): Promise<number | null> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(DEADLINE_MS)]);
    try {
      return await this.exchange(message, signal);
    } catch {
      return null;
    }
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  private async exchange(message: Message, signal: AbortSignal): Promise<number | null> {
    const target = new URL(message.url);
    const addresses = await this.addresses.resolve(target, signal);
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
      new Promise<number | null>((resolve, reject) => {
        let isAnswered = false;
        const sent = send(target, options, (response) => {
          isAnswered = true;
          ignoreBody(response);
          resolve(response.statusCode ?? null);
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
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > RESPONSE_BYTES_MAX) response.destroy();
  });
  // The status has counted already.
  response.on('error', () => undefined);
}
