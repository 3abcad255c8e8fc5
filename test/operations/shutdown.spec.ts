import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { start as run } from '../support/program.js';
import { openOwnedDatabase, type TestDatabase, withDataSource } from '../support/database.js';
import { OWNER, ServiceProcess, until } from '../support/service-process.js';

describe('a process that receives a stop signal', () => {
  let database: TestDatabase;
  let service: ServiceProcess | undefined;

  beforeEach(async () => {
    database = await openOwnedDatabase();
  });
  afterEach(async () => {
    service?.signal('SIGKILL');
    await service?.exit;
    await database.drop();
  });

  async function start(environment: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
    const started = await ServiceProcess.spawn({ DATABASE_URL: database.url, SHUTDOWN_DELAY: '0', ...environment });
    service = started;
    await started.started();
    return started;
  }

  async function makeWaitlist(running: ServiceProcess): Promise<number> {
    const { text } = await running.call('POST', '/api/v1/auth/create_tokens', OWNER);
    const { access_token: token } = JSON.parse(text) as { access_token: string };
    const sent = running.begin('POST', '/api/v1/waitlist', {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    });
    sent.end(JSON.stringify({ waitlist_name: 'Test', waitlist_url_location: 'https://example.com/join' }));
    return (JSON.parse((await ServiceProcess.answerOf(sent)).text) as { id: number }).id;
  }

  it('is not ready but still serves until load balancers have noticed; a second signal ends it at once', async () => {
    const running = await start({ SHUTDOWN_DELAY: '300' });
    const waitlist_id = await makeWaitlist(running);

    running.signal('SIGTERM');
    await until(async () => !(await running.isReady()));

    expect((await running.call('GET', '/readyz')).status).toBe(503);
    expect((await running.call('GET', '/livez')).status).toBe(200);
    const signup = await running.call('POST', '/api/v1/signup', { waitlist_id, email: 'late@example.com' });
    expect(signup.status).toBe(200);
    expect(signup.headers.connection).toBe('close');

    running.signal('SIGTERM');

    expect(await running.exit).toBe(143);
  });

  it('completes a request in progress after it has stopped listening', async () => {
    const running = await start();
    const waitlist_id = await makeWaitlist(running);
    const body = JSON.stringify({ waitlist_id, email: 'slow@example.com' });
    const sent = running.begin('POST', '/api/v1/signup', {
      'content-type': 'application/json',
      'content-length': String(body.length),
      expect: '100-continue',
    });
    sent.flushHeaders();
    await once(sent, 'continue');

    running.signal('SIGTERM');
    await until(() =>
      running.call('GET', '/livez').then(
        () => false,
        (error: unknown) => (error as { code?: string }).code === 'ECONNREFUSED',
      ),
    );
    sent.end(body);

    const { status, headers } = await ServiceProcess.answerOf(sent);
    expect({ status, connection: headers.connection }).toEqual({ status: 200, connection: 'close' });
    expect(await running.exit).toBe(0);
  });

  it('has stored page views each second, and stores those of its last second', async () => {
    const running = await start();
    const waitlist_id = await makeWaitlist(running);
    const view = async () =>
      running.call('POST', '/api/v1/widget_heartbeats', { waitlist_id, location: '', referrer: '' });
    const stored = async () =>
      withDataSource(database.url, (dataSource) => dataSource.query<object[]>('SELECT views FROM page_view'));
    await view();
    await until(async () => (await stored()).length > 0);

    expect((await view()).status).toBe(200);
    running.signal('SIGTERM');

    expect(await running.exit).toBe(0);
    expect(await stored()).toEqual([{ views: 2 }]);
  });

  it('answers every accepted signup, and has stored every answered signup', async () => {
    const running = await start();
    const waitlist_id = await makeWaitlist(running);
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const answered: string[] = [];
    const refusals: unknown[] = [];

    await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const email = `person${index}@example.com`;
        try {
          const { status } = await running.call('POST', '/api/v1/signup', { waitlist_id, email }, { agent });
          if (status !== 200) refusals.push(status);
          // Only once: a second signal exits at once.
          else if (answered.push(email) === 1) running.signal('SIGTERM');
        } catch (error) {
          // The service had closed this connection before it accepted the request.
          const { code = '' } = error as { code?: string };
          if (!['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)) refusals.push(error);
        }
      }),
    );
    expect(refusals).toEqual([]);
    expect(answered).not.toEqual([]);
    expect(await running.exit).toBe(0);

    const next = await start();
    const found = await Promise.all(
      answered.map((email) =>
        next.call('GET', `/api/v1/signup?waitlist_id=${waitlist_id}&email=${email}`, undefined, { agent }),
      ),
    );
    agent.destroy();
    expect(found.filter(({ status }) => status !== 200)).toEqual([]);
  });
});

/** Two signals in one turn of the event loop; the kernel would merge them into one. */
it.each([
  ['exits at once on a second signal in the same turn of the event loop', {}, 143],
  [
    'started by npm ignores a second signal in the same turn, because npm forwards each signal',
    { npm_lifecycle_event: 'start' },
    0,
  ],
])('a process %s', async (_, environment, exitCode) => {
  const program = `
    import { onStopSignal } from './dist/src/boot/shutdown.js';
    onStopSignal(Promise.resolve({ delayMs: 0, stop: () => new Promise((resolve) => setTimeout(resolve, 0)) }));
    process.emit('SIGTERM');
    process.emit('SIGTERM');`;

  const { exitCode: ended } = await run([process.execPath, '--input-type=module', '-e', program], {
    folder: '.',
    environment,
  }).ended;

  expect(ended).toBe(exitCode);
});

it('a first start that receives a signal still shows the password of the account that it creates', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'waitlist-test-'));
  try {
    const file = join(directory, 'waitlist.sqlite');
    const starting = await ServiceProcess.spawn({ DATABASE_URL: `sqlite:${file}`, OWNER_PASSWORD: '' });
    await until(() => existsSync(file));

    starting.signal('SIGTERM');

    expect(await starting.exit).toBe(0);
    expect(starting.output).toMatch(/password {2}\S{20}/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
