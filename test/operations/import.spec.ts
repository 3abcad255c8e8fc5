import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { SERVER_BOUNDS } from '../../src/platform/limits/server-bounds.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { allOf } from '../../src/platform/reach.js';
import { ImportService } from '../../src/transfer/import.service.js';
import { openFilesIn } from '../support/open-files.js';
import { queueOf } from '../support/queue.js';
import { freshFolder } from '../support/program.js';
import { type Service, startService } from '../support/service.js';
import { NO_OWNER, OWNER, ServiceProcess, until } from '../support/service-process.js';
import type { LoggedIn, OwnedWaitlist } from '../support/world.js';

/** Many chunks, so that a test can do something between them. */
const PEOPLE = 3_000;
const REFERRED_EACH = 3;
/** On a busy machine an import may be complete before the signal arrives. */
const TRIES_MAX = 10;
const MEBIBYTE = 1024 * 1024;

const emailOf = (number: number) => `person-${number}@example.com`;
const tokenOf = (number: number) => `token-${number}`;

/** Two chunks ahead and two behind, so that either comes first. */
const referrerOf = (number: number) => (number + (number % 2 === 0 ? 1_000 : PEOPLE - 1_000)) % PEOPLE;

/** People in join order, the file in another. Every third was referred, by an earlier or a later one. */
const PEOPLE_FILE = [
  'email,join_order,referral_token,referred_by,spots_advanced',
  ...Array.from({ length: PEOPLE }, (_, line) => {
    const number = (line * 7) % PEOPLE;
    const referrer = number % REFERRED_EACH === 0 ? tokenOf(referrerOf(number)) : '';
    return [emailOf(number), number * 2, tokenOf(number), referrer, number % 5].join(',');
  }),
].join('\n');

const pathOf = (id: number) => `/api/v1/waitlist/${id}/import`;

function begin(port: number, { id, owner }: OwnedWaitlist, headers: Record<string, string> = {}): ClientRequest {
  const authorization = `Bearer ${owner.token}`;
  return request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: pathOf(id),
    headers: { authorization, 'content-type': 'text/csv', ...headers },
  });
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies of every shape
async function answerOf(sent: ClientRequest): Promise<{ readonly status: number; readonly body: any }> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
}

/**
 * Sends a chunked body, but for its end, before it reads the answer, as many libraries do. Stops if the server closes.
 */
async function sendAll(port: number, { id, owner }: OwnedWaitlist, chunks: Iterable<Buffer>) {
  const socket = connect(port, '127.0.0.1').pause();
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const head = `Host: service\r\nAuthorization: Bearer ${owner.token}\r\nContent-Type: text/csv`;
  socket.write(`POST ${pathOf(id)} HTTP/1.1\r\n${head}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  for (const chunk of chunks) {
    if (socket.destroyed) break;
    socket.write(`${chunk.length.toString(16)}\r\n`);
    socket.write(chunk);
    if (!socket.write('\r\n')) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  return { socket, errors };
}

async function requireSound({ app }: Service, { id }: OwnedWaitlist): Promise<void> {
  const { findings } = await queueOf(app).auditor.verify(id, () => undefined);
  expect(findings).toEqual([]);
}

async function countOf(service: Service, { id }: OwnedWaitlist): Promise<number> {
  return (await queueOf(service.app).reader.getWaitlist(id)).active;
}

/** What the owner sees of a queue, without what differs from one waitlist to another. */
async function viewOf(service: Service, { id }: OwnedWaitlist) {
  const rows = await service.app.get(Database).read((manager) =>
    manager.query<object[]>(
      `SELECT email, referral_token, referred_by_token, credited_referrals, rank_key, seq FROM waiter
         WHERE waitlist_id = ? ORDER BY rank_key, seq DESC`,
      [id],
    ),
  );
  return rows;
}

describe('an import', () => {
  let service: Service;
  let directory: string;
  let port: number;
  const bounds = {
    ...{ ...SERVER_BOUNDS, loopDelayMs: 0, checkMs: 50, silenceMs: 300, transferMs: 60_000 },
    // Node.js swaps the two if headersMs is the larger one.
    ...{ headersMs: 300, requestMs: 300 },
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'transfer-test-'));
    service = await startService({ bounds, environment: { TRANSFER_DIR: directory } });
    await service.app.listen(0, '127.0.0.1');
    ({ port } = service.app.getHttpServer().address() as AddressInfo);
  });
  afterAll(async () => {
    await service.stop();
    await rm(directory, { recursive: true });
  });

  const stateOf = async ({ id, owner }: OwnedWaitlist) =>
    (await service.api.get(pathOf(id), { token: owner.token })).body.state as string;

  const silence = ({ id }: OwnedWaitlist) =>
    service.app
      .get(Database)
      .read((manager) =>
        manager.query(`UPDATE import_run SET heartbeat_at = '2024-01-01' WHERE waitlist_id = ?`, [id]),
      );

  it('whose file arrives slowly is not ended by the bounds of other requests, and its file has no name', async () => {
    const waitlist = await service.world.waitlist();
    const sent = begin(port, waitlist);
    const answer = answerOf(sent);
    sent.write('email\n');
    for (let number = 0; number < 12; number += 1) {
      sent.write(`${emailOf(number)}\n`);
      await setTimeout(bounds.requestMs / 6);
    }
    const [file] = await openFilesIn(directory);
    const names = await readdir(directory);
    sent.end();

    expect(await answer).toMatchObject({ status: 200, body: { imported: 12 } });
    expect([file!.mode & 0o777, names]).toEqual([0o600, []]);
    expect((await openFilesIn(directory)).filter(({ size }) => size > 0)).toEqual([]);
  });

  it.each<[string, (waitlist: OwnedWaitlist, editor: LoggedIn) => Promise<unknown>, number, string]>([
    [
      'is sent by a member who is removed',
      ({ owner }, { id }) => service.api.delete(`/api/v1/member/${id}`, { token: owner.token }),
      401,
      'INVALID_TOKEN',
    ],
    [
      'is sent by a member who becomes a viewer',
      ({ owner }, { id }) => service.api.patch(`/api/v1/member/${id}`, { role: 'viewer' }, { token: owner.token }),
      403,
      'INSUFFICIENT_ROLE',
    ],
    [
      'is sent by a member whose account comes to require a second factor',
      ({ owner }) => service.api.patch('/api/v1/account', { require_two_factor: true }, { token: owner.token }),
      403,
      'TWO_FACTOR_REQUIRED',
    ],
  ])('that %s while its file arrives changes nothing', async (_, end, status, code) => {
    const waitlist = await service.world.waitlist();
    const editor = await service.world.member(waitlist.owner, 'editor');
    const sent = begin(port, waitlist, { authorization: `Bearer ${editor.token}` });
    const answer = answerOf(sent);
    sent.write('email\na@example.com\n');
    await until(async () => (await openFilesIn(directory)).some(({ size }) => size > 0));

    await end(waitlist, editor);
    sent.end('b@example.com\n');

    expect(await answer).toMatchObject({ status, body: { error_code: code } });
    expect(await countOf(service, waitlist)).toBe(0);
  });

  it('whose key is revoked while its file arrives changes nothing', async () => {
    const waitlist = await service.world.waitlist();
    const { token } = waitlist.owner;
    const { id, key } = (await service.api.post('/api/v1/api_key', { name: 'Import', scope: 'manage' }, { token }))
      .body;
    const sent = request({
      ...{ port, host: '127.0.0.1', method: 'POST', path: pathOf(waitlist.id) },
      headers: { 'api-key': key as string, 'content-type': 'text/csv' },
    });
    const answer = answerOf(sent);
    sent.write('email\na@example.com\n');
    await until(async () => (await openFilesIn(directory)).some(({ size }) => size > 0));

    await service.api.delete(`/api/v1/api_key/${id}`, { token });
    sent.end();

    expect(await answer).toMatchObject({ status: 401, body: { error_code: 'INVALID_ACCOUNT_KEY' } });
    expect(await countOf(service, waitlist)).toBe(0);
  });

  it('may arrive slowly behind another one on its connection, which ends meanwhile', async () => {
    const [first, second] = [await service.world.waitlist(), await service.world.waitlist()];
    const head = ({ id, owner }: OwnedWaitlist, connection: string) =>
      `POST ${pathOf(id)} HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer ${owner.token}\r\nContent-Type: text/csv\r\n` +
      `Content-Length: ${file.length}\r\nConnection: ${connection}\r\n\r\n`;
    const lines = Array.from({ length: 12 }, (_, number) => `${emailOf(100 + number)}\n`);
    const file = `email\n${lines.join('')}`;
    const socket = connect(port, '127.0.0.1');
    const answers = text(socket);
    socket.write(`${head(first, 'keep-alive')}${file}${head(second, 'close')}email\n`);
    for (const line of lines) {
      await setTimeout(bounds.requestMs / 6);
      socket.write(line);
    }

    expect((await answers).match(/HTTP\/1.1 \d+|"imported":\d+/g)).toEqual([
      ...['HTTP/1.1 200', '"imported":12'],
      ...['HTTP/1.1 200', '"imported":12'],
    ]);
  });

  it('is refused with 503 while two others are under way, and one that breaks off makes room', async () => {
    const waitlists = [await service.world.waitlist(), await service.world.waitlist(), await service.world.waitlist()];
    const underWay: ClientRequest[] = [];
    // One after the other: a connection that waits for its first bytes would be closed on a busy machine.
    for (const waitlist of waitlists.slice(1)) {
      const sent = begin(port, waitlist, { accept: 'application/x-ndjson' });
      underWay.push(sent);
      sent.on('error', () => undefined);
      sent.write('email\n');
      // The header is accepted.
      await once(sent, 'response');
    }

    const third = begin(port, waitlists[0]!);
    third.end('email\n');

    expect(await answerOf(third)).toMatchObject({ status: 503, body: { error_code: 'TRANSFERS_BUSY' } });
    for (const sent of underWay) sent.destroy();
    await until(async () => {
      const again = begin(port, waitlists[0]!);
      again.end('email\n');
      return (await answerOf(again)).status === 200;
    });
  });

  it('is refused with 503 while its account has another under way', async () => {
    const waitlist = await service.world.waitlist();
    const other = await service.world.waitlist({}, waitlist.owner);
    const first = begin(port, waitlist, { accept: 'application/x-ndjson' });
    first.on('error', () => undefined);
    first.write('email\n');
    await once(first, 'response');
    const send = (into: OwnedWaitlist) => {
      const sent = begin(port, into);
      sent.end('email\n');
      return answerOf(sent);
    };

    expect(await send(other)).toMatchObject({ status: 503, body: { error_code: 'TRANSFERS_BUSY' } });
    expect(await send(await service.world.waitlist())).toMatchObject({ status: 200 });
    first.destroy();
    await until(async () => (await send(other)).status === 200);
  });

  it('that is refused is ended if its client does not stop sending', async () => {
    const waitlist = await service.world.waitlist();
    await queueOf(service.app).importer.begin(waitlist.id, 'f'.repeat(64));
    function* forever() {
      for (;;) yield Buffer.alloc(MEBIBYTE, 'x');
    }

    const { socket } = await sendAll(port, waitlist, forever());

    expect(socket.destroyed).toBe(true);
  });

  it('that only reports ends when its client leaves', async () => {
    const waitlist = await service.world.waitlist();
    const client = new AbortController();
    const { uuid, accountId, token } = waitlist.owner;
    const { body: key } = await service.api.post('/api/v1/api_key', { name: 'Import', scope: 'manage' }, { token });
    const { report } = await service.app.get(ImportService).receive(Readable.from([Buffer.from(PEOPLE_FILE)]), {
      waitlistId: waitlist.id,
      isDryRun: true,
      write: operatorWrite(accountId),
      caller: { ...allOf(accountId), accountUuid: uuid, member: null, key: { id: key.id, scope: 'manage' } },
      need: { role: 'editor', scope: 'manage' },
      ended: client.signal,
    });
    client.abort();

    await expect(report).rejects.toMatchObject({ code: 'MALFORMED_REQUEST' });
  });

  it('of a file beyond 1 GiB is refused before it is sent', async () => {
    const sent = begin(port, await service.world.waitlist(), {
      'content-length': String(1024 ** 3 + 1),
      expect: '100-continue',
    });
    let isContinued = false;
    sent.on('continue', () => (isContinued = true)).on('error', () => undefined);
    sent.flushHeaders();

    expect(await answerOf(sent)).toMatchObject({ status: 413, body: { error_code: 'BODY_TOO_LARGE' } });
    expect(isContinued).toBe(false);
    sent.destroy();
  });

  it('of a file with a wrong header is refused while the rest is still to come', async () => {
    const sent = begin(port, await service.world.waitlist());
    sent.on('error', () => undefined);
    sent.write('name\nAda\n');

    expect(await answerOf(sent)).toMatchObject({ status: 400, body: { error_code: 'INVALID_CSV' } });
    sent.destroy();
  });

  it('is told to continue once the service is ready for the file', async () => {
    const sent = begin(port, await service.world.waitlist(), { expect: '100-continue' });
    const answer = answerOf(sent);
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end('email\na@example.com\n');

    expect(await answer).toMatchObject({ status: 200, body: { imported: 1 } });
  });

  it('leaves nothing on the disk, not in deleted files that are still open either', async () => {
    for (const end of ['b@example.com', '"never closed']) {
      const sent = begin(port, await service.world.waitlist());
      const answer = answerOf(sent);
      sent.end(`${PEOPLE_FILE}\n${end}`);
      await answer;
    }

    expect((await openFilesIn(directory)).filter(({ size }) => size > 0)).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('reads its file again if the owner changes the questions meanwhile', async () => {
    const waitlist = await service.world.waitlist();
    const sent = begin(port, waitlist);
    const answer = answerOf(sent);
    sent.end(
      ['email,question_1,answer_1', ...Array.from({ length: 8_000 }, (_, n) => `${emailOf(n)},Why?,so`)].join('\n'),
    );
    await until(async () => (await stateOf(waitlist)) === 'running');
    const questions = [{ question_value: 'How?' }];

    await service.api.patch(`/api/v1/waitlist/${waitlist.id}`, { questions }, { token: waitlist.owner.token });

    expect(await answer).toMatchObject({ status: 200, body: { imported: 8_000 } });
    const changed = await service.api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
    expect(changed.body.questions).toMatchObject([{ question_value: 'How?' }, { question_value: 'Why?' }]);
  });

  it('goes on if its client leaves once the file has arrived', async () => {
    const waitlist = await service.world.waitlist();
    const sent = begin(port, waitlist, { accept: 'application/x-ndjson' });
    sent.on('error', () => undefined);
    const response = once(sent, 'response');
    sent.end(PEOPLE_FILE);
    await response;
    await until(async () => (await countOf(service, waitlist)) > 0);
    sent.destroy();

    await until(async () => (await stateOf(waitlist)) === 'done');

    expect(await countOf(service, waitlist)).toBe(PEOPLE);
  });

  it('lets people join meanwhile, who stand behind its numbers, with exact positions', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 0 });
    const sent = begin(port, waitlist);
    const answer = answerOf(sent);
    sent.end(PEOPLE_FILE.replaceAll(/,\d+$/gm, ',0'));
    await until(async () => (await countOf(service, waitlist)) > 0);
    const joined: string[] = [];
    const sizes: number[] = [];
    while (sizes.length === 0 || sizes.at(-1)! < PEOPLE) {
      const { email, priority } = await service.world.signup(waitlist);
      joined.push(email);
      const imported = (await countOf(service, waitlist)) - joined.length;
      // No more than what was imported and joined before.
      expect(priority).toBeLessThanOrEqual(imported + joined.length - 1);
      sizes.push(imported);
    }

    expect(await answer).toMatchObject({ body: { imported: PEOPLE } });
    expect(sizes[0]).toBeLessThan(PEOPLE);
    await requireSound(service, waitlist);
    const emails = (await viewOf(service, waitlist)).map((row) => (row as { email: string }).email);
    expect(emails).toEqual([...Array.from({ length: PEOPLE }, (_, number) => emailOf(number)), ...joined]);
  });

  it('ends with the deletion of its waitlist', async () => {
    const waitlist = await service.world.waitlist();
    const sent = begin(port, waitlist);
    const answer = answerOf(sent);
    sent.end(PEOPLE_FILE);
    await until(async () => (await countOf(service, waitlist)) > 0);

    await service.api.delete(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });

    expect(await answer).toMatchObject({ status: 404, body: { error_code: 'WAITLIST_NOT_FOUND' } });
  });

  it('is refused with 409 while another into the waitlist is alive, and not once it gives no sign of life', async () => {
    const waitlist = await service.world.waitlist();
    const send = async () => {
      const sent = begin(port, waitlist);
      sent.end('email\na@example.com\n');
      return answerOf(sent);
    };
    await queueOf(service.app).importer.begin(waitlist.id, 'f'.repeat(64));

    expect(await send()).toMatchObject({ status: 409, body: { error_code: 'IMPORT_RUNNING' } });
    expect(await stateOf(waitlist)).toBe('running');

    await silence(waitlist);

    expect(await stateOf(waitlist)).toBe('failed');
    expect(await send()).toMatchObject({ status: 200, body: { imported: 1 } });
  });
});

describe('an import over a slow connection', () => {
  let service: Service;
  let port: number;
  beforeAll(async () => {
    const slow = { checkMs: 20, transferMs: 60_000, uploadGraceMs: 200 };
    service = await startService({ bounds: { ...SERVER_BOUNDS, loopDelayMs: 0, ...slow } });
    await service.app.listen(0, '127.0.0.1');
    ({ port } = service.app.getHttpServer().address() as AddressInfo);
  });
  afterAll(() => service.stop());

  it('that is refused while its client sends lets the client read the answer', async () => {
    const waitlist = await service.world.waitlist();
    await queueOf(service.app).importer.begin(waitlist.id, 'f'.repeat(64));

    const { socket, errors } = await sendAll(port, waitlist, Array<Buffer>(16).fill(Buffer.alloc(MEBIBYTE, 'x')));
    socket.end('0\r\n\r\n');
    const answer = await text(socket.resume());

    expect(errors).toEqual([]);
    expect(answer).toMatch(/^HTTP\/1\.1 409 /);
    expect(answer).toContain('IMPORT_RUNNING');
  });

  it('ends after its first minute unless it has brought 16 KiB a second', async () => {
    const [slow, fast] = [begin(port, await service.world.waitlist()), begin(port, await service.world.waitlist())];
    slow.write('email\n');
    fast.write(`email\n${'\n'.repeat(MEBIBYTE)}`);
    const answer = answerOf(fast);

    await expect(answerOf(slow)).rejects.toThrow('socket hang up');
    fast.end('a@example.com\n');

    expect(await answer).toMatchObject({ status: 200, body: { imported: 1 } });
  });
});

describe('an import that is refused while its client is slow', () => {
  it('gets no second answer when its time for a request has passed', async () => {
    const service = await startService({ bounds: { ...SERVER_BOUNDS, loopDelayMs: 0, checkMs: 20, requestMs: 400 } });
    await service.app.listen(0, '127.0.0.1');
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    const waitlist = await service.world.waitlist();
    await queueOf(service.app).importer.begin(waitlist.id, 'f'.repeat(64));

    const { socket } = await sendAll(port, waitlist, [Buffer.from('email\n')]);
    const answers = await text(socket.resume()).catch(() => '');
    await service.stop();

    expect(answers.match(/^HTTP\/1\.1 .*/gm)).toEqual(['HTTP/1.1 409 Conflict']);
  });
});

describe('an import that was cut off', () => {
  /** Shares the database. It imports the whole file at once, for comparison. */
  let observer: Service;
  let processes: ServiceProcess[];
  beforeEach(async () => {
    observer = await startService({ isolated: true });
    processes = [];
  });
  afterEach(async () => {
    for (const process of processes) {
      process.signal('SIGKILL');
      await process.exit;
    }
    await observer.stop();
  });

  async function start(): Promise<ServiceProcess> {
    const process = await ServiceProcess.spawn({ DATABASE_URL: observer.databaseUrl, ...NO_OWNER });
    processes.push(process);
    await process.started();
    return process;
  }

  /** A waitlist whose import was cut off by a signal. */
  async function cutOff(signal: NodeJS.Signals): Promise<OwnedWaitlist> {
    const { world } = observer;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const process = await start();
      const waitlist = await world.waitlist();
      await world.signup(waitlist, { email: emailOf(11) });
      const sent = begin(process.port, waitlist);
      sent.on('error', () => undefined);
      sent.end(PEOPLE_FILE);
      await until(async () => (await countOf(observer, waitlist)) > PEOPLE / 4);
      process.signal(signal);
      await process.exit;
      if ((await countOf(observer, waitlist)) < PEOPLE) return waitlist;
    }
    throw new Error(`${TRIES_MAX} imports were complete before their end.`);
  }

  async function importAll({ id, owner }: OwnedWaitlist) {
    return observer.api.post(pathOf(id), undefined, {
      token: owner.token,
      raw: PEOPLE_FILE,
      headers: { 'content-type': 'text/csv' },
    });
  }

  it.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])(
    'by %s leaves exact counts, and another of the same file gives what one would have given',
    async (signal) => {
      const waitlist = await cutOff(signal);
      await requireSound(observer, waitlist);
      if (signal === 'SIGKILL') {
        expect((await importAll(waitlist)).body.error_code).toBe('IMPORT_RUNNING');
        // As if a minute had passed.
        const { dataSource } = observer.app.get(Database);
        await dataSource.query(`UPDATE import_run SET heartbeat_at = '2024-01-01'`);
      }
      const before = await countOf(observer, waitlist);

      const { status, body } = await importAll(waitlist);

      expect([status, body]).toEqual([200, expect.objectContaining({ imported: PEOPLE - before, rejected: 0 })]);
      await requireSound(observer, waitlist);
      const whole = await observer.world.waitlist();
      await observer.world.signup(whole, { email: emailOf(11) });
      expect((await importAll(whole)).body.imported).toBe(PEOPLE - 1);
      const isOfFile = ({ email }: { email?: string }) => email !== emailOf(11);
      const tokensOf = async (which: OwnedWaitlist) =>
        (await viewOf(observer, which)).filter(isOfFile).map((row) => JSON.stringify(row));
      // The person who was there already has a token of their own in each waitlist.
      const [own, other] = [await ownToken(waitlist), await ownToken(whole)];
      expect((await tokensOf(waitlist)).map((row) => row.replaceAll(own, other))).toEqual(await tokensOf(whole));
    },
  );

  async function ownToken(waitlist: OwnedWaitlist): Promise<string> {
    const rows = (await viewOf(observer, waitlist)) as { email: string; referral_token: string }[];
    return rows.find(({ email }) => email === emailOf(11))!.referral_token;
  }
});

describe('a process', () => {
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let service: ServiceProcess;
  let waitlist: OwnedWaitlist;
  beforeAll(async () => {
    folder = await freshFolder();
    const DATABASE_URL = `sqlite:${join(folder.path, 'waitlist.sqlite')}`;
    const files = join(folder.path, 'transfers');
    await mkdir(files);
    service = await ServiceProcess.spawn({ DATABASE_URL, TRANSFER_DIR: files });
    await service.started();
    const { access_token: token } = (await service.call('POST', '/api/v1/auth/create_tokens', OWNER)).body;
    const created = await service.call('POST', '/api/v1/waitlist', { waitlist_name: 'Hostile' }, { token });
    waitlist = { id: created.body.id, owner: { token } } as OwnedWaitlist;
  });
  afterAll(async () => {
    service.signal('SIGKILL');
    await service.exit;
    await folder.remove();
  });

  const metric = async (name: string) => {
    const { text: metrics } = await service.call('GET', '/metrics');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  };

  it.each([
    ['commas', 'email\n', ','],
    ['column names', 'email', ',x'],
    ['quotes', 'email\n', '"'],
    ['text', 'email\n', 'x'],
    ['line breaks', 'email', '\n'],
  ])('refuses a file of 40 MiB of %s, with little memory and work', async (_, head, unit) => {
    const memory = await metric('process_resident_memory_bytes');
    const seconds = await metric('process_cpu_seconds_total');
    const chunks = Array<Buffer>(40).fill(Buffer.from(unit.repeat(MEBIBYTE / unit.length)));

    const { socket } = await sendAll(service.port, waitlist, [Buffer.from(head), ...chunks]);
    socket.end('0\r\n\r\n');
    const answer = await text(socket.resume());

    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('INVALID_CSV');
    expect((await metric('process_resident_memory_bytes')) - memory).toBeLessThan(100 * MEBIBYTE);
    // No other request waited longer than that.
    expect((await metric('process_cpu_seconds_total')) - seconds).toBeLessThan(2);
  });

  it('ends an import after 1,000,000 rejected lines, and says so', async () => {
    const sent = begin(service.port, waitlist);
    const answer = answerOf(sent);
    sent.write(Buffer.concat([Buffer.from('email\na@example.com\n'), Buffer.alloc(2_000_000, '\xff\n', 'latin1')]));
    sent.end('b@example.com\n');
    const { status, body } = await answer;

    expect([status, body]).toMatchObject([200, { imported: 1, rejected: 1_000_000 }]);
    expect(body.errors).toHaveLength(1_000);
    const message = 'is the last that was read, because 1000000 lines were rejected';
    expect(body.errors.at(-1)).toEqual({ line: 1_000_002, field: 'line', message });
    const latest = await service.call('GET', pathOf(waitlist.id), undefined, waitlist.owner);
    expect(latest.body).toMatchObject({ state: 'done', report: { imported: 1 } });
  });

  it('leaves no file of an import or export behind when it is killed', async () => {
    const sent = begin(service.port, waitlist, { accept: 'application/x-ndjson' });
    sent.on('error', () => undefined);
    sent.write('email\na@example.com\n');
    await once(sent, 'response');
    service.signal('SIGKILL');
    await service.exit;

    expect(await readdir(join(folder.path, 'transfers'))).toEqual([]);
  });
});
