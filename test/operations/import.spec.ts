import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm, stat } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { SERVER_BOUNDS } from '../../src/platform/http/server.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import { NO_OWNER, ServiceProcess, until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

/** Many chunks, so that a test can do something between them. */
const PEOPLE = 3_000;
const REFERRED_EACH = 3;
/** On a busy machine an import may be complete before the signal arrives. */
const TRIES_MAX = 10;

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
  const bounds = { ...SERVER_BOUNDS, loopDelayMs: 0, checkMs: 50, requestMs: 300, silenceMs: 300, transferMs: 60_000 };
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

  it('whose file arrives slowly is not ended by the bounds of other requests, and its file is gone afterwards', async () => {
    const waitlist = await service.world.waitlist();
    const sent = begin(port, waitlist);
    const answer = answerOf(sent);
    sent.write('email\n');
    for (let number = 0; number < 12; number += 1) {
      sent.write(`${emailOf(number)}\n`);
      await setTimeout(bounds.requestMs / 6);
    }
    const files = await readdir(directory);
    const { mode } = await stat(join(directory, files[0]!));
    sent.end();

    expect(await answer).toMatchObject({ status: 200, body: { imported: 12 } });
    expect([files.length, mode & 0o777]).toEqual([1, 0o600]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('is refused with 503 while two others are under way, and one that breaks off makes room', async () => {
    const waitlists = [await service.world.waitlist(), await service.world.waitlist(), await service.world.waitlist()];
    const [first, second] = waitlists
      .slice(1)
      .map((waitlist) => begin(port, waitlist, { accept: 'application/x-ndjson' }));
    for (const sent of [first!, second!]) {
      sent.on('error', () => undefined);
      sent.write('email\n');
      // The header is accepted.
      await once(sent, 'response');
    }

    const third = begin(port, waitlists[0]!);
    third.end('email\n');

    expect(await answerOf(third)).toMatchObject({ status: 503, body: { error_code: 'TRANSFERS_BUSY' } });
    first!.destroy();
    second!.destroy();
    await until(async () => {
      const again = begin(port, waitlists[0]!);
      again.end('email\n');
      return (await answerOf(again)).status === 200;
    });
    expect(await readdir(directory)).toEqual([]);
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

    const paths = (await readdir('/proc/self/fd')).map((descriptor) => `/proc/self/fd/${descriptor}`);
    const targets = await Promise.all(paths.map((path) => readlink(path).catch(() => '')));
    const open = paths.filter((_, index) => targets[index]?.startsWith(directory));
    expect(await Promise.all(open.map(async (path) => (await stat(path)).size))).toEqual(open.map(() => 0));
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

    await until(async () => (await stateOf(waitlist)) !== 'running');

    expect(await stateOf(waitlist)).toBe('done');
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
    60_000,
  );

  async function ownToken(waitlist: OwnedWaitlist): Promise<string> {
    const rows = (await viewOf(observer, waitlist)) as { email: string; referral_token: string }[];
    return rows.find(({ email }) => email === emailOf(11))!.referral_token;
  }
});
