import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as rest } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { Database } from '../../src/platform/database/database.js';
import { SERVER_BOUNDS, type ServerBounds } from '../../src/platform/limits/server-bounds.js';
import { QueueSeeder } from '../../src/queue/maintenance/seeder.js';
import { COLUMNS } from '../../src/transfer/column-names.js';
import { callAt } from '../support/api.js';
import { openFilesIn } from '../support/open-files.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import type { OwnedWaitlist, Owner } from '../support/world.js';

type Line = Readonly<Record<string, string>>;

describe('an export', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const get = (waitlist: OwnedWaitlist, format?: 'csv' | 'ndjson') =>
    service.api.get(`/api/v1/waitlist/${waitlist.id}/export`, {
      token: waitlist.owner.token,
      query: { ...(format && { format }) },
    });
  const lines = async (waitlist: OwnedWaitlist): Promise<Line[]> =>
    parse<Line>((await get(waitlist)).text, { columns: true });

  it('is a CSV file with every record: the active ones in the order of the queue, then the offboarded ones', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 2 });
    const [ada, bob, cy, dan] = await world.signups(waitlist, 4);
    const eve = await world.signup(waitlist, { referral_link: dan?.referral_link });
    const removed = [await world.idOf(waitlist, cy!), await world.idOf(waitlist, ada)];
    await world.offboard(waitlist, removed);

    const answer = await get(waitlist);

    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toMatch(
      new RegExp(`^attachment; filename="waitlist-${waitlist.id}-\\d{4}-\\d\\d-\\d\\d\\.csv"$`),
    );
    expect(answer.text.split('\n', 1)).toEqual([COLUMNS.join(',')]);
    const [first, ...rest] = parse<Line>(answer.text, { columns: true });
    const waiter = (await world.list(waitlist)).find(({ uuid }) => uuid === dan?.uuid);
    expect(first).toEqual({
      ...Object.fromEntries(COLUMNS.map((column) => [column, ''])),
      join_order: '3',
      joined_priority: '3',
      position: '0',
      email: dan?.email,
      registered_email: dan?.email,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      verified: 'false',
      referral_token: dan?.referral_token,
      amount_referred: '1',
      credit: 'none',
      spots_advanced: '0',
      uuid: waiter?.uuid,
    });
    expect(rest.map(({ email, position, join_order }) => [email, position, join_order])).toEqual([
      [bob?.email, '1', '1'],
      [eve.email, '2', '4'],
      [ada.email, '', '0'],
      [cy?.email, '', '2'],
    ]);
    expect(rest[1]).toMatchObject({ referred_by: dan?.referral_token, credit: 'credited' });
    expect(rest[2]).toMatchObject({ removed_priority: '0', removed_date: expect.stringMatching(/Z$/) });
  });

  it('has the same fields as lines of JSON', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }, { question_value: 'How?' }] });
    const answers = [{ question_value: 'Why?', answer_value: 'So' }];
    await world.signup(waitlist, { first_name: 'Ada', metadata: { plan: ['team', 1] }, answers });
    await world.signups(waitlist, 1);

    const answer = await get(waitlist, 'ndjson');

    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    const records = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.map((record) => Object.keys(record))).toEqual([[...COLUMNS], [...COLUMNS]]);
    expect(records[0]).toMatchObject({
      join_order: 0,
      position: 0,
      first_name: 'Ada',
      last_name: null,
      verified: false,
      metadata: { plan: ['team', 1] },
      question_1: 'Why?',
      answer_1: 'So',
      question_2: 'How?',
      answer_2: null,
      question_3: null,
      answers: [
        { id: 1, question_value: 'Why?', optional: true, answer_value: 'So', soft_deleted: false },
        { id: 2, question_value: 'How?', optional: true, answer_value: null, soft_deleted: false },
      ],
    });
  });

  it('of a waitlist without records has the header row alone, and no line of JSON', async () => {
    const waitlist = await service.world.waitlist();

    expect((await get(waitlist)).text).toBe(`${COLUMNS.join(',')}\n`);
    expect((await get(waitlist, 'ndjson')).text).toBe('');
  });

  it('has no cell that a spreadsheet would run, and is sound CSV whatever people wrote', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ questions: [{ question_value: '=Why, "you"?' }] });
    const answer_value = '+1\r\n"2",\r3 👋🏽';
    const answers = [{ question_value: '=Why, "you"?', answer_value }];
    await world.signup(waitlist, { first_name: '=HYPERLINK("x")', last_name: "'@x", phone: '+14155550123', answers });

    expect(await lines(waitlist)).toEqual([
      expect.objectContaining({
        first_name: `'=HYPERLINK("x")`,
        last_name: "''@x",
        phone: "'+14155550123",
        question_1: `'=Why, "you"?`,
        answer_1: `'${answer_value}`,
      }),
    ]);
  });

  it('is refused for an unknown format', async () => {
    const waitlist = await service.world.waitlist();
    const path = `/api/v1/waitlist/${waitlist.id}/export`;
    const { status, body } = await service.api.get(path, { token: waitlist.owner.token, query: { format: 'xlsx' } });

    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'format', rule: 'one_of', message: 'must be csv or ndjson' }],
    ]);
  });
});

/** More than the buffers of a connection hold, so that an export waits for its reader. */
const RECORDS = 1_000;
const METADATA = JSON.stringify({ text: 'x'.repeat(16_000) });

describe('an export with a slow reader', () => {
  let service: Service;
  let directory: string;
  let sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await service.stop();
    expect([await readdir(directory), await openFilesIn(directory)]).toEqual([[], []]);
    await rm(directory, { recursive: true });
  });

  async function start(bounds: Partial<ServerBounds> = {}): Promise<{ waitlist: OwnedWaitlist; base: string }> {
    directory = await mkdtemp(join(tmpdir(), 'waitlist-transfers-'));
    service = await startService({
      environment: { TRANSFER_DIR: directory },
      bounds: { ...SERVER_BOUNDS, loopDelayMs: 0, checkMs: 20, ...bounds },
    });
    await service.app.listen(0, '127.0.0.1');
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    return { waitlist: await largeWaitlist(), base: `http://127.0.0.1:${port}` };
  }

  async function largeWaitlist(owner?: Owner): Promise<OwnedWaitlist> {
    const waitlist = await service.world.waitlist({}, owner);
    await service.app.get(QueueSeeder).seed(waitlist.id, RECORDS, () => undefined);
    const sql = 'UPDATE waiter SET metadata = ? WHERE waitlist_id = ?';
    await service.app.get(Database).read((manager) => manager.query(sql, [METADATA, waitlist.id]));
    return waitlist;
  }

  /** Asks for an export, and reads its first bytes only. */
  async function beginReading(waitlist: OwnedWaitlist): Promise<Socket> {
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => socket.destroy());
    sockets.push(socket);
    socket.write(
      `GET /api/v1/waitlist/${waitlist.id}/export HTTP/1.1\r\nHost: service\r\nConnection: close\r\nAuthorization: Bearer ${waitlist.owner.token}\r\n\r\n`,
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    socket.unshift(head);
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    return socket;
  }

  const ask = (base: string, waitlist: OwnedWaitlist) =>
    callAt(base, 'GET', `/api/v1/waitlist/${waitlist.id}/export`, { token: waitlist.owner.token });
  const connections = () =>
    new Promise<number>((resolve) => {
      service.app.getHttpServer().getConnections((_: Error | null, count: number) => resolve(count));
    });

  it('is written to its end meanwhile, of one moment, to a file without a name that only the service may read', async () => {
    const { waitlist } = await start();
    const reader = await beginReading(waitlist);
    await until(async () => (await openFilesIn(directory))[0]!.size > RECORDS * METADATA.length);
    const [file] = await openFilesIn(directory);
    expect([file!.mode & 0o777, await readdir(directory)]).toEqual([0o600, []]);

    const { email } = await service.world.signup(waitlist);
    reader.resume();
    // Without the sizes of the chunks: they can stand within a line.
    const text = (await rest(reader)).replaceAll(/\r\n[\da-f]+\r\n/g, '');

    expect(text.match(/@example\.com,seed-/g)).toHaveLength(RECORDS);
    expect(text).not.toContain(email);
  });

  it('counts among the two of a process until its reader leaves', async () => {
    const { waitlist, base } = await start();
    const [reader] = [await beginReading(await largeWaitlist()), await beginReading(await largeWaitlist())];

    const refused = await ask(base, waitlist);
    expect([refused.status, refused.body.error_code, refused.headers['retry-after']]).toEqual([
      503,
      'TRANSFERS_BUSY',
      '10',
    ]);

    reader.destroy();
    await until(async () => (await ask(base, waitlist)).status === 200);
  });

  it('is the only one of its account', async () => {
    const { waitlist, base } = await start();
    const other = await service.world.waitlist({}, waitlist.owner);
    const reader = await beginReading(waitlist);

    const refused = await ask(base, other);
    expect([refused.status, refused.body.error_code]).toEqual([503, 'TRANSFERS_BUSY']);
    expect((await ask(base, await service.world.waitlist())).status).toBe(200);

    reader.destroy();
    await until(async () => (await ask(base, other)).status === 200);
  });

  it('may follow the one before at once', async () => {
    const { waitlist, base } = await start();

    const statuses: number[] = [];
    while (statuses.length < 20) statuses.push((await ask(base, waitlist)).status);

    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('ends if less than 64 KiB move in two minutes, and not if more do, however long it takes', async () => {
    const transferMs = 800;
    const { waitlist } = await start({ transferMs, silenceMs: 50 });
    await beginReading(await largeWaitlist());
    const reader = await beginReading(waitlist);
    const startedAt = performance.now();

    let bytes = 0;
    for await (const chunk of reader) {
      bytes += (chunk as Buffer).length;
      const elapsedMs = performance.now() - startedAt;
      const dueMs = (transferMs * bytes) / (8 * SERVER_BOUNDS.transferBytes);
      if (elapsedMs < 3 * transferMs) await setTimeout(dueMs - elapsedMs);
    }

    expect(bytes).toBeGreaterThan(RECORDS * METADATA.length);
    await until(async () => (await connections()) === 0);
  });

  it('ends with the service', async () => {
    const { waitlist } = await start({ unsentMs: 100 });
    await beginReading(waitlist);

    await service.app.getHttpAdapter().getInstance().close();

    await until(async () => (await openFilesIn(directory)).length === 0);
  });
});
