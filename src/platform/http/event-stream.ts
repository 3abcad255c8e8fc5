import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Time from the arrival of the request until its response became a stream. */
    openedAfterMs?: number;
  }
}

/** Unsent data of a client that reads slowly: about a hundred events. */
const WAITING_MAX_BYTES = 32 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies must pass each event on at once: nginx by the second header.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  // The connection is not used for another request after the stream.
  connection: 'close',
};

/** A response of server-sent events. Nothing is kept for a client that does not read: it is disconnected. */
export class EventStream {
  private constructor(private readonly response: ServerResponse) {}

  /** Sends the headers. From then on, the deadline for answers does not apply. */
  static open(reply: FastifyReply): EventStream {
    const { raw, request } = reply;
    clearTimeout(request.answerTimer);
    request.openedAfterMs = reply.elapsedTime;
    reply.hijack();
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...HEADERS });
    return new EventStream(raw);
  }

  /** Calls back when the connection has ended; at once if it has already. */
  onceClosed(closed: () => void): void {
    if (this.response.closed) closed();
    else this.response.once('close', closed);
  }

  /** `data` is one line. */
  send(event: string, data: string): void {
    this.write(`event: ${event}\ndata: ${data}\n\n`);
  }

  /** Keeps proxies from closing an idle connection. */
  comment(): void {
    this.write(':\n\n');
  }

  /** Ends the response, unless it has ended. With `retryMs`, a browser connects again after that time. */
  close(retryMs?: number): void {
    if (!this.response.writableEnded) this.response.end(retryMs === undefined ? '' : `retry: ${retryMs}\n\n`);
  }

  private write(text: string): void {
    if (this.response.writableLength > WAITING_MAX_BYTES) this.response.destroy();
    else if (!this.response.writableEnded && !this.response.destroyed) this.response.write(text);
  }
}
