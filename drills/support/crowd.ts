import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { Connection } from 'mysql2/promise';
import { repeatWhile } from '../../test/support/repeat-while.js';
import type { ServiceProcess } from '../../test/support/service-process.js';
import type { DatabaseServer } from './database-server.js';
import { verify } from './command-line.js';
import { listWaiters, openWaitlist, read } from './traffic.js';

/** Commands that may wait for one waitlist. */
const QUEUE_MAX = 10_000;
/** Of a process with a full queue of commands: a waiting request takes a few kilobytes. */
const MEMORY_MAX_MIB = 512;
const LOOK_MS = 50;

/** Many simultaneous signups, during a fault or without one. */
interface Crowd {
  readonly name: string;
  readonly connections: number;
  /** Pipelined on one connection. */
  readonly signupsEach: number;
  readonly begin: () => Promise<unknown>;
  readonly lastsMs: number;
  readonly end: () => Promise<unknown>;
  readonly fillsQueue: boolean;
}

export function crowdsOf(database: DatabaseServer): Crowd[] {
  const nothing = async () => undefined;
  // More than the queue holds, on few connections, because a process limits their number.
  const throng = { connections: 100, signupsEach: 120, lastsMs: 20_000 };
  let root: Connection | undefined;
  return [
    { name: 'rush', connections: 5_000, signupsEach: 1, begin: nothing, lastsMs: 0, end: nothing, fillsQueue: false },
    {
      ...throng,
      name: 'stalled',
      begin: () => database.signal('SIGSTOP'),
      end: () => database.signal('SIGCONT'),
      // The speed of the machine decides whether it fills.
      fillsQueue: false,
    },
    {
      ...throng,
      name: 'queue blocked',
      begin: async () => {
        root = await database.connectAsRoot();
        await root.query('START TRANSACTION');
        await root.query('SELECT * FROM waitlist.waitlist FOR UPDATE');
      },
      end: async () => root?.end(),
      fillsQueue: true,
    },
  ];
}

interface Reply {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly body: { readonly uuid: string; readonly priority: number; readonly error_code?: string };
}

/**
 * A crowd signs up on a new waitlist and repeats each signup until it is answered 200. The queue of commands must keep
 * its bound, and every answered person must be stored once, at the answered position. Returns whether all of that held.
 */
export async function endure(crowd: Crowd, service: ServiceProcess, databaseUrl: string): Promise<boolean> {
  const { name, connections, signupsEach, lastsMs, fillsQueue } = crowd;
  const place = await openWaitlist(service);
  const answered = new Map<string, Reply['body']>();
  const outcomes = new Map<string, number>();
  const differences: string[] = [];
  const find = (isWrong: boolean, words: string) => isWrong && differences.push(words);

  const signUp = async (connection: number) => {
    let left = Array.from({ length: signupsEach }, (_, index) => `crowd${connection}-${index}@example.com`);
    while (left.length > 0) {
      const replies = await sendTogether(
        service.port,
        left.map((email) => ({ waitlist_id: place.waitlistId, email })),
      );
      left.forEach((email, index) => {
        const reply = replies[index];
        const outcome = reply ? `${reply.status} ${reply.body.error_code ?? ''}`.trim() : 'unanswered';
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (reply?.status === 200) answered.set(email, reply.body);
        // The connection may end after a refusal, and later requests on it get no answer.
        else if (reply === undefined) find(index === 0, `${email}: ${outcome}`);
        else find(!(reply.status === 503 && reply.retryAfterSeconds > 0), `${email}: ${outcome}`);
      });
      left = left.filter((email) => !answered.has(email));
      const patienceSeconds = Math.max(1, ...replies.map(({ retryAfterSeconds }) => retryAfterSeconds));
      if (left.length > 0) await setTimeout(patienceSeconds * 1000);
    }
  };
  const startMs = performance.now();
  await crowd.begin();
  const signups = Promise.all(Array.from({ length: connections }, (_, connection) => signUp(connection)));
  const end = setTimeout(lastsMs).then(crowd.end);
  const { longest, memoryMib, refusals } = await watch(service, Promise.all([signups, end]));

  const count = connections * signupsEach;
  const waiters = await listWaiters(service, place, false);
  const uuids = new Map(waiters.map(({ email, uuid }) => [email, uuid]));
  find(waiters.length !== count, `${waiters.length} records of ${count} people`);
  for (const [email, { uuid }] of answered) find(uuids.get(email) !== uuid, `${email} was answered, and is lost`);
  const places = new Set([...answered.values()].map(({ priority }) => priority));
  find(places.size !== count || Math.max(...places) !== count - 1, 'the places answered are no permutation');
  find(!(longest <= QUEUE_MAX), `the line held ${longest}`);
  find(fillsQueue && !(refusals > 0), 'the queue was never full');
  find(!(memoryMib <= MEMORY_MAX_MIB), `it took ${memoryMib} MiB`);
  await verify(databaseUrl).catch((error: unknown) => differences.push(String(error)));
  const seconds = Math.round((performance.now() - startMs) / 1000);
  process.stdout.write(
    `${JSON.stringify({ scene: name, people: count, answers: Object.fromEntries(outcomes), longestLine: longest, refusedByLine: refusals, memoryMib, differences: differences.slice(0, 20), seconds })}\n`,
  );
  return differences.length === 0;
}

/** Pipelines the signups on one connection; requests after the connection's end get no reply. */
async function sendTogether(port: number, bodies: readonly object[]): Promise<Reply[]> {
  const socket = connect(port, '127.0.0.1');
  bodies.forEach((body, index) => {
    const json = JSON.stringify(body);
    const close = index === bodies.length - 1 ? 'connection: close\r\n' : '';
    socket.write(
      `POST /api/v1/signup HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${close}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
    );
  });
  const replies = (await text(socket).catch(() => '')).split(/(?=HTTP\/1\.1 \d{3} )/).filter(Boolean);
  return replies.map((reply) => {
    const [head = '', body = ''] = reply.split('\r\n\r\n');
    return {
      status: Number(head.split(' ', 2)[1]),
      retryAfterSeconds: Number(/^retry-after: (\d+)/im.exec(head)?.[1] ?? 0),
      body: JSON.parse(body) as Reply['body'],
    };
  });
}

/** The maximum of waiting commands, memory and refusals during the work. */
async function watch(service: ServiceProcess, work: Promise<unknown>) {
  const looks = await repeatWhile(work, async () => {
    const { text: metrics } = await service.call('GET', '/metrics');
    read(await service.call('GET', '/livez'));
    await setTimeout(LOOK_MS);
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1]);
    return {
      longest: value('waitlist_queue_waiting_commands'),
      memoryMib: Math.round(value('process_resident_memory_bytes') / 2 ** 20),
      refusals: value('waitlist_queue_refusals_total'),
    };
  });
  const most = (name: keyof (typeof looks)[number]) => Math.max(...looks.map((look) => look[name]));
  return { longest: most('longest'), memoryMib: most('memoryMib'), refusals: most('refusals') };
}
