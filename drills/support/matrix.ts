import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { Answer } from '../../test/support/api.js';
import type { ServiceProcess } from '../../test/support/service-process.js';
import { type Need, openOperations, type Operation } from './operations.js';
import { verify } from './command-line.js';
import { openWaitlist, Traffic } from './traffic.js';

/** The outcome of an operation during a fault: success, a 503, or `either` of them if it depends on chance. */
type Verdict = 'served' | 'refused' | 'either';

export interface Fault {
  readonly name: string;
  readonly expected: Readonly<Record<Need, Verdict>>;
  readonly lastsMs: number;
  /**
   * `begin` resolves when the fault is there, `end` when its cause is gone. Without `end`, the database repairs itself.
   */
  begin(): Promise<unknown>;
  readonly end?: () => Promise<unknown>;
  /** Prepares the next fault, after this one was judged. */
  readonly mend?: () => Promise<unknown>;
}

const GONE = {
  nothing: 'served',
  readiness: 'refused',
  reading: 'refused',
  writing: 'refused',
  room: 'refused',
} as const;
const READ_ONLY = { ...GONE, reading: 'served' } as const;
/** The binary log has no space: writers wait and hold their connections, until none is left for reads. */
const LOG_FULL = { ...GONE, readiness: 'either', reading: 'either' } as const;
/** No table can grow, but rows that fit into a page are stored. MariaDB may stop itself. */
const TABLES_FULL = {
  nothing: 'served',
  readiness: 'either',
  reading: 'either',
  writing: 'either',
  room: 'refused',
} as const;
const PASSING = { ...TABLES_FULL, room: 'either' } as const;
export const EXPECTED = { GONE, READ_ONLY, LOG_FULL, TABLES_FULL, PASSING };

const VISITORS = 4;
/** For operations without a bound of their own. */
const ANSWER_MAX_MS = 5_000;
/** From the fault until readiness must fail. */
const NOTICE_MAX_MS = 2_500;
/** From the database's return until all operations succeed. */
const HEAL_MAX_MS = 2_000;
const WATCHED_AFTER_MS = 2_000;
const PAUSE_MS = 50;
const WRITE_MAX_MS = 1_000;
const ROOM_BYTES = 2_000_000;
const RETURN_MAX_MS = 120_000;
/** Reported for one operation. */
const BROKEN_MAX = 5;

interface Sample extends Pick<Answer, 'status'> {
  readonly atMs: number;
  readonly ms: number;
  readonly isServed: boolean;
  /** What is wrong with this answer, whenever it comes. */
  readonly fault: string | undefined;
}

interface Cell {
  readonly operation: string;
  readonly answers: string;
  readonly slowestMs: number;
  readonly healedMs: number;
  readonly faults: readonly string[];
}

/** Calls every operation in a loop of its own, and compares the answers with what the service stored. */
export class Matrix {
  private constructor(
    private readonly databaseUrl: string,
    private readonly agent: Agent,
    private readonly operations: readonly Operation[],
  ) {}

  static async open(service: ServiceProcess, databaseUrl: string): Promise<Matrix> {
    const agent = new Agent({ keepAlive: true });
    return new Matrix(databaseUrl, agent, await openOperations(service, databaseUrl, agent));
  }

  /** Calls one operation once. */
  async call(name: string): Promise<Answer> {
    const operation = this.operations.find((one) => one.name === name);
    if (!operation) throw new Error(`No such operation: ${name}`);
    return operation.call();
  }

  /** Begins and ends the fault, and returns what was wrong with each operation. */
  async endure(fault: Fault): Promise<Cell[]> {
    const connection = await createConnection(this.databaseUrl);
    await connection.query('CREATE TABLE IF NOT EXISTS room (id INT PRIMARY KEY, filler LONGBLOB)');
    await connection.end();
    for (const operation of this.operations) await operation.prepare?.();
    let isOver = false;
    const watches = this.operations.map((operation) => this.watch(operation, () => isOver));
    await setTimeout(PAUSE_MS);
    let times: Times;
    try {
      await fault.begin();
      const begunMs = performance.now();
      await setTimeout(fault.lastsMs);
      const endingMs = performance.now();
      await fault.end?.();
      const backMs = await returned(this.databaseUrl);
      times = { noticedMs: begunMs + NOTICE_MAX_MS, endingMs, backMs };
      await setTimeout(HEAL_MAX_MS + WATCHED_AFTER_MS);
    } finally {
      isOver = true;
    }
    const samples = await Promise.all(watches);
    const cells: Cell[] = [];
    for (const [index, operation] of this.operations.entries()) {
      const broken = (await operation.findBroken?.()) ?? [];
      const cell = judge(operation, fault.expected[operation.need], samples[index] ?? [], times);
      cells.push({ ...cell, faults: [...cell.faults, ...broken.slice(0, BROKEN_MAX)] });
    }
    return [...cells, await this.verified()];
  }

  /** What `verify` finds in all waitlists. */
  private async verified(): Promise<Cell> {
    const startMs = performance.now();
    const faults = await verify(this.databaseUrl).then(
      () => [],
      (error: unknown) => [String(error)],
    );
    const slowestMs = Math.round(performance.now() - startMs);
    return { operation: 'verify', answers: '', slowestMs, healedMs: 0, faults };
  }

  close(): void {
    this.agent.destroy();
  }

  private async watch(operation: Operation, isOver: () => boolean): Promise<Sample[]> {
    const { pauseMs = PAUSE_MS, answerMaxMs = ANSWER_MAX_MS, success } = operation;
    const samples: Sample[] = [];
    while (!isOver()) {
      const atMs = performance.now();
      try {
        const answer = await operation.call();
        const ms = performance.now() - atMs;
        const fault = ms > answerMaxMs ? `took ${Math.round(ms)} ms` : faultOf(operation, answer);
        samples.push({ atMs, ms, status: answer.status, isServed: answer.status === success, fault });
      } catch (error) {
        const ms = performance.now() - atMs;
        samples.push({ atMs, ms, status: 0, isServed: false, fault: `no answer: ${String(error)}` });
      }
      await setTimeout(pauseMs);
    }
    return samples;
  }
}

interface Times {
  readonly noticedMs: number;
  readonly endingMs: number;
  readonly backMs: number;
}

/** An answer must always be a right success, or a 503 with Retry-After. */
function faultOf({ need, success, isRight }: Operation, answer: Answer): string | undefined {
  const { status, headers } = answer;
  if (status === success) return isRight === undefined || isRight(answer) ? undefined : 'answered something else';
  if (status !== 503 || need === 'nothing') return `answered ${status}`;
  return Number(headers['retry-after']) > 0 ? undefined : 'said nothing of when to come back';
}

function judge({ name }: Operation, expected: Verdict, samples: readonly Sample[], times: Times): Cell {
  const { noticedMs, endingMs, backMs } = times;
  const faults = new Set(samples.flatMap(({ fault }) => fault ?? []));
  const during = samples.filter(({ atMs, ms }) => atMs > noticedMs && atMs + ms < endingMs);
  const after = samples.filter(({ atMs }) => atMs > backMs + HEAL_MAX_MS);
  const healed = samples.find(({ atMs, isServed }) => atMs > backMs && isServed);
  if (expected !== 'either') {
    const wrong = during.find(({ isServed }) => isServed !== (expected === 'served'));
    if (wrong) faults.add(`answered ${wrong.status} in the middle of it`);
    if (during.length === 0 && endingMs > noticedMs) faults.add('was not asked in the middle of it');
  }
  const late = after.find(({ isServed }) => !isServed);
  if (late) faults.add(`answered ${late.status} ${Math.round(late.atMs - backMs)} ms after the return`);
  if (after.length === 0) faults.add('was not asked after the return');
  const counts = new Map<number, number>();
  for (const { status } of samples) counts.set(status, (counts.get(status) ?? 0) + 1);
  return {
    operation: name,
    answers: [...counts]
      .sort()
      .map(([status, count]) => `${status}×${count}`)
      .join(' '),
    slowestMs: Math.round(Math.max(...samples.map(({ ms }) => ms))),
    healedMs: healed ? Math.round(healed.atMs + healed.ms - backMs) : Infinity,
    faults: [...faults],
  };
}

/** When the database accepted a write that needs space, on a new connection. */
async function returned(databaseUrl: string): Promise<number> {
  const deadlineMs = performance.now() + RETURN_MAX_MS;
  for (;;) {
    try {
      const connection = await createConnection({ uri: databaseUrl, connectTimeout: 500 });
      try {
        await connection.query({ sql: "REPLACE INTO room VALUES (1, REPEAT('x', ?))", timeout: WRITE_MAX_MS }, [
          ROOM_BYTES,
        ]);
        await connection.query('DELETE FROM room');
        return performance.now();
      } finally {
        connection.destroy();
      }
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}

/** The faults with these names; all without names. */
export function chosen<Named extends Pick<Fault, 'name'>>(
  faults: readonly Named[],
  names: readonly string[],
): readonly Named[] {
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new Error(`No such fault: ${unknown.join(', ')}`);
  return names.length === 0 ? faults : faults.filter(({ name }) => names.includes(name));
}

/**
 * Goes through the faults and prints a row for each operation; meanwhile, `services` (all on the database) have
 * visitors. At the end, compares the database with every answer. Returns whether all was right.
 */
export async function endureAll(
  name: string,
  matrix: Matrix,
  faults: readonly Fault[],
  services: readonly [ServiceProcess, ...ServiceProcess[]],
  databaseUrl: string,
): Promise<boolean> {
  const [service] = services;
  const traffic = new Traffic(() => services, await openWaitlist(service));
  traffic.start(VISITORS);
  const all: Cell[] = [];
  for (const fault of faults) {
    const cells = await matrix.endure(fault);
    all.push(...cells);
    for (const { operation, answers, slowestMs, healedMs, faults: wrong } of cells) {
      process.stdout.write(
        `${fault.name.padEnd(18)} ${operation.padEnd(19)} ${answers.padEnd(22)} slowest ${String(slowestMs).padStart(5)} ms  back ${String(healedMs).padStart(5)} ms  ${wrong.join('; ') || 'ok'}\n`,
      );
    }
    await fault.mend?.();
  }
  matrix.close();
  await traffic.stop();
  const wrong = all.filter((cell) => cell.faults.length > 0).length;
  const slowestMs = Math.max(0, ...all.filter(({ operation }) => operation !== 'verify').map((cell) => cell.slowestMs));
  const healedMs = Math.max(0, ...all.map((cell) => cell.healedMs));
  const sum = `${all.length} cells, ${wrong} wrong, the slowest answer ${slowestMs} ms, back within ${healedMs} ms`;
  return (await traffic.conclude(`${name}: ${sum}`, service, databaseUrl)) && wrong === 0;
}
