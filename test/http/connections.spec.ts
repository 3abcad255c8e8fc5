import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import type { ServerBounds } from '../../src/platform/limits/server-bounds.js';
import { Metrics } from '../../src/platform/telemetry/metrics.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';

/** Connections of each kind. */
const EACH = 20;
const TRICKLE_MS = 20;
const HEADERS_BEGUN = 'GET /livez HTTP/1.1\r\nHost: service\r\nX-Slow: ';
const BODY_BEGUN =
  'POST /api/v1/signup HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n';
const SLOW = ['', HEADERS_BEGUN, BODY_BEGUN];
/** No timeout ends a connection during a test. */
const PATIENT = { headersMs: 60_000, requestMs: 60_000, keepAliveMs: 60_000 };
const COMPLETE = 'GET /livez HTTP/1.1\r\nHost: service\r\n\r\n';
/** Short timeouts, so that the tests can wait for them. */
const BOUNDS: ServerBounds = {
  headersMs: 600,
  requestMs: 1_200,
  checkMs: 50,
  keepAliveMs: 60_000,
  silenceMs: 60_000,
  transferMs: 60_000,
  transferBytes: 65_536,
  uploadGraceMs: 60_000,
  uploadBytesPerSecond: 16_384,
  answerMs: 60_000,
  connectionsMax: 1_000,
  largeBodiesMaxBytes: 1_000_000,
  largeBodiesPerAddressMaxBytes: 1_000_000,
  loopDelayMs: 0,
  unsentMs: 60_000,
};

describe('a connection', () => {
  let service: Service;
  let sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await service.stop();
  });

  async function start(bounds: Partial<ServerBounds> = {}, environment: Record<string, string> = {}): Promise<void> {
    service = await startService({ bounds: { ...BOUNDS, ...bounds }, environment });
    await service.app.listen(0, '127.0.0.1');
  }
  function open(localAddress = '127.0.0.1'): Socket {
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => socket.destroy());
    sockets.push(socket);
    return socket;
  }
  /** Sends `prefix`, then a byte every {@link TRICKLE_MS}. Resolves with the response when the server closes. */
  async function trickle(prefix: string): Promise<string> {
    const socket = open();
    if (prefix !== '') socket.write(prefix);
    const timer = setInterval(() => prefix !== '' && socket.write('1'), TRICKLE_MS);
    return text(socket).finally(() => clearInterval(timer));
  }
  /** Opens connections that send each prefix and never complete it. */
  const openSlow = (prefixes: readonly string[]) =>
    prefixes.flatMap((prefix) => Array.from({ length: EACH }, () => trickle(prefix)));
  async function isServed(localAddress?: string): Promise<boolean> {
    const socket = open(localAddress);
    socket.end(COMPLETE);
    return (await text(socket).catch(() => '')).startsWith('HTTP/1.1 200 ');
  }
  const connectionsOf = (): Promise<number> =>
    new Promise((resolve, reject) => {
      service.app.getHttpServer().getConnections((error: Error | null, count: number) => {
        if (error) reject(error);
        else resolve(count);
      });
    });

  it('that never completes its request does not keep others from being served', async () => {
    await start(PATIENT);
    const slow = openSlow(SLOW).map((answer) => answer.catch(() => undefined));
    await until(async () => (await connectionsOf()) === slow.length);

    const served = await Promise.all(Array.from({ length: 20 }, () => isServed()));

    expect(served).not.toContain(false);
    expect(await connectionsOf()).toBeGreaterThanOrEqual(slow.length);
    for (const socket of sockets) socket.destroy();
    await Promise.all(slow);
  });

  it.each<[string, string[], Partial<ServerBounds>]>([
    ['headers', ['', HEADERS_BEGUN], { requestMs: 60_000 }],
    ['body', [BODY_BEGUN], {}],
  ])('that never completes its %s is closed with 408', async (_, prefixes, bounds) => {
    await start(bounds);

    const answers = await Promise.all(openSlow(prefixes));

    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toContain('"error_code":"REQUEST_TIMEOUT"');
      expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im);
      expect(answer).toMatch(/^content-security-policy: default-src 'none'/im);
      const [, requestId] = /^x-request-id: (\S+)\r$/im.exec(answer) ?? [];
      expect(answer).toContain(`"instance":"${requestId}"`);
    }
  });

  it('that is idle is closed', async () => {
    await start({ ...PATIENT, keepAliveMs: 400 });
    const socket = open();
    socket.write(COMPLETE);

    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('whose client stops reading is closed', async () => {
    await start({ ...PATIENT, silenceMs: 400 });
    const taken = once(service.app.getHttpServer(), 'connection');
    const socket = open().pause();
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: service\r\n\r\n'.repeat(500));
    await taken;

    await until(async () => (await connectionsOf()) === 0);
  });

  it('is refused and counted if there are too many, until another one closes', async () => {
    await start({ ...PATIENT, connectionsMax: 3 });
    const first = open();
    open();
    open();
    await until(async () => (await connectionsOf()) === 3);

    expect([await isServed(), await isServed()]).toEqual([false, false]);
    expect((await service.api.get('/metrics')).text).toMatch(/^http_connections_refused_total 2$/m);
    first.destroy();

    await until(() => isServed());
  });

  it('that waits with `Expect: 100-continue` is told to send a body only if it can be accepted', async () => {
    await start(PATIENT);
    const answerTo = async (...headers: string[]) => {
      const socket = open();
      const lines = ['POST /api/v1/signup HTTP/1.1', 'Host: service', ...headers, '', ''];
      socket.write(lines.join('\r\n'));
      return (await text(socket)).split('\r\n\r\n', 1)[0]!;
    };
    const [json, waits] = ['Content-Type: application/json', 'Expect: 100-continue'];

    const refused = [
      await answerTo(json, 'Content-Length: 262145', waits),
      await answerTo('Content-Type: text/csv', 'Content-Length: 2', waits),
    ];
    const socket = open();
    const accepted = once(socket, 'data');
    socket.write(`POST /api/v1/signup HTTP/1.1\r\nHost: service\r\n${json}\r\nContent-Length: 2\r\n${waits}\r\n\r\n`);
    const [go] = (await accepted) as [Buffer];
    socket.end('{}');

    expect(refused.map((head) => head.slice(0, 'HTTP/1.1 413'.length))).toEqual(
      [413, 415].map((status) => `HTTP/1.1 ${status}`),
    );
    for (const head of refused) expect(head).toMatch(/^content-type: application\/problem\+json/im);
    expect(go.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('that expects something else is answered as if it did not', async () => {
    await start(PATIENT);
    const socket = open();

    socket.end('GET /livez HTTP/1.1\r\nHost: service\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n');

    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  describe('with a large body in transit', () => {
    const LARGE = 100_000;
    /** Begins a request without its body. Resolves with the response once the connection closes. */
    const begin = (length: number | null, localAddress?: string): Promise<string> => {
      const socket = open(localAddress);
      const size = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
      socket.write(
        `PATCH /api/v1/waiter HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\n${size}\r\n\r\n`,
      );
      return text(socket).catch(() => '');
    };
    const isRefused = async (length: number | null, localAddress?: string) =>
      (await begin(length, localAddress)).startsWith('HTTP/1.1 503 ');

    it.each([
      ['of an address', { largeBodiesPerAddressMaxBytes: 3 * LARGE }, '127.0.0.1', '127.0.0.2'],
      ['of all addresses', { largeBodiesMaxBytes: 3 * LARGE }, '127.0.0.2', undefined],
    ])('is refused beyond the bound %s, until one ends; small bodies are accepted', async (_, bounds, next, other) => {
      await start({ ...PATIENT, ...bounds });
      const waiting = [1, 2, 3].map(() => begin(LARGE));
      await until(async () => (await connectionsOf()) === 3);

      expect(await isRefused(LARGE, next)).toBe(true);
      expect(await isRefused(null, next)).toBe(true);
      // The server accepted each of these and waits for its body.
      if (other) waiting.push(begin(LARGE, other));
      waiting.push(begin(1_000, next));
      const open = waiting.length;
      await until(async () => (await connectionsOf()) === open);
      expect(await isServed(next)).toBe(true);
      expect((await service.api.post('/api/v1/signup', {})).status).toBe(400);
      sockets[0]!.destroy();
      await until(async () => (await connectionsOf()) === open - 1);

      waiting.push(begin(LARGE, next));
      await until(async () => (await connectionsOf()) === open);
      expect(await isRefused(LARGE, next)).toBe(true);
    });
  });

  it('that its client closes before the answers is counted as one request of status 499 each', async () => {
    await start(PATIENT);
    const waitlist = await service.world.waitlist();
    const release = await holdDatabase();
    const received: IncomingMessage[] = [];
    service.app.getHttpServer().on('request', (request: IncomingMessage) => received.push(request));
    const socket = open();
    socket.write(`GET /api/v1/waitlist/${waitlist.id} HTTP/1.1\r\nHost: service\r\n\r\n`.repeat(20));
    await until(() => received.length === 20);
    socket.destroy();
    const closed =
      /^http_request_duration_seconds_count\{.*route="\/api\/v1\/waitlist\/:waitlist_id",status="499"\} 20$/m;

    // Alone: other metrics are read from the database.
    const requests = () => service.app.get(Metrics).registry.getSingleMetricAsString('http_request_duration_seconds');
    await until(async () => closed.test(await requests()));
    release();
  });

  it('with pipelined large bodies gives back its share when it closes', async () => {
    const LARGE = 100_000;
    const bounds = { ...PATIENT, largeBodiesPerAddressMaxBytes: 2 * LARGE };
    await start(bounds);
    const release = await holdDatabase();
    const patch = (length: number) =>
      `PATCH /api/v1/waiter HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    const received: IncomingMessage[] = [];
    service.app.getHttpServer().on('request', (request: IncomingMessage) => received.push(request));
    const socket = open();
    socket.write('GET /api/v1/waitlist/1 HTTP/1.1\r\nHost: service\r\n\r\n');
    socket.write(`${patch(LARGE)}${' '.repeat(LARGE)}${patch(LARGE)}`);
    await until(() => received.length === 3);
    socket.destroy();
    await until(async () => (await connectionsOf()) === 0);

    const other = open();
    other.end(`${patch(2 * LARGE)}${' '.repeat(2 * LARGE)}`);

    expect(await text(other)).toMatch(/^HTTP\/1\.1 400 /);
    release();
  });

  it('that never completes its request does not block a server that closes; complete requests are answered', async () => {
    await start({ ...PATIENT, keepAliveMs: 400, unsentMs: 300 });
    const waitlist = await service.world.waitlist();
    const slow = SLOW.map((prefix) => trickle(prefix).catch(() => undefined));
    const release = await holdDatabase();
    const body = JSON.stringify({ waitlist_id: waitlist.id, email: 'waiting@example.com' });
    const requests: IncomingMessage[] = [];
    service.app.getHttpServer().on('request', (request: IncomingMessage) => requests.push(request));
    const waiting = open();
    waiting.write(
      `POST /api/v1/signup HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => requests.some(({ complete }) => complete));
    await until(async () => (await connectionsOf()) === slow.length + 1);

    const closed: Promise<void> = service.app.getHttpAdapter().getInstance().close();
    await Promise.all(slow);
    release();

    expect(await text(waiting)).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
  });

  /** Occupies all connections until the returned function is called. */
  async function holdDatabase(): Promise<() => void> {
    const database = service.app.get(Database);
    const { poolSize = 1 } = database.dataSource.options as { poolSize?: number };
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let held = 0;
    for (let index = 0; index < poolSize; index += 1) {
      const hold = async () => {
        held += 1;
        await released;
      };
      void database.read(hold, { deadlineMs: 60_000 });
    }
    await until(() => held === poolSize);
    return release;
  }
});
