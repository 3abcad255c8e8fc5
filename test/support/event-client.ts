import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { until } from './service-process.js';

/** A client of server-sent events, as a browser reads them. */
export class EventClient {
  status = 0;
  headers: Readonly<Record<string, string | string[] | undefined>> = {};
  text = '';
  isClosed = false;
  private readonly sent;

  constructor(app: NestFastifyApplication, path: string, { from, origin }: { from?: string; origin?: string } = {}) {
    const { port } = app.getHttpServer().address() as AddressInfo;
    const headers = { accept: 'text/event-stream', ...(origin !== undefined && { origin }) };
    this.sent = request({ host: '127.0.0.1', port, path, headers, localAddress: from, agent: false });
    this.sent.on('error', () => (this.isClosed = true));
    this.sent.on('response', (response) => {
      this.status = response.statusCode ?? 0;
      this.headers = response.headers;
      response.setEncoding('utf8').on('data', (chunk: string) => (this.text += chunk));
      response.on('close', () => (this.isClosed = true)).on('error', () => undefined);
    });
    this.sent.end();
  }

  /** The data of all events of a name so far. */
  dataOf(event: string): unknown[] {
    const blocks = this.text.split('\n\n').slice(0, -1);
    return blocks
      .filter((block) => block.startsWith(`event: ${event}\n`))
      .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)) as unknown);
  }

  /** Resolves when the status is there. */
  async answered(): Promise<this> {
    await until(() => this.status > 0);
    return this;
  }

  close(): void {
    this.sent.destroy();
  }
}
