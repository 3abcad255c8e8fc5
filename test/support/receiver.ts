import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** A message as it arrived. */
export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Byte for byte. */
  readonly body: string;
  readonly event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read the fields of signups
  readonly signup: any;
}

type Answer = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

/** A receiver of webhooks on the loopback interface. */
export class Receiver {
  /** Answers each message: 204 unless a test says otherwise. */
  answer: Answer = answerWith(204);

  private constructor(
    private readonly server: Server,
    readonly received: Received[],
  ) {}

  /** `received` is what an earlier receiver at this port got before it was stopped. */
  static async start(port = 0, received: Received[] = []): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server, received);
    server.on('request', (request, response) => void receiver.receive(request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** The uuid and event of each message, in order of arrival. */
  get events(): string[] {
    return this.received.map(({ event, signup }) => `${(signup as { uuid?: string }).uuid ?? ''} ${event}`.trim());
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A sender that was killed leaves half a message.
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const headers = request.headers as Record<string, string>;
    const { event, signup } = JSON.parse(body) as Received;
    const received = { id: headers['webhook-id'] ?? '', path: request.url ?? '', headers, body, event, signup };
    this.received.push(received);
    this.answer(received, response, request);
  }
}

export function answerWith(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_, response) => void response.writeHead(status, headers).end();
}

/** Throws unless the reference library accepts the message. */
export function verify({ body, headers }: Received, secret: string): unknown {
  return new Webhook(secret).verify(body, headers);
}
