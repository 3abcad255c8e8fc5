import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { Answer } from '../support/api.js';
import { OWNER, type ServiceProcess } from '../support/service-process.js';
import { openWaitlist, type Place, read } from './traffic.js';

/** What an operation cannot do without. */
type Need = 'nothing' | 'readiness' | 'reading' | 'writing';
/** What becomes of an operation while a fault lasts; `either` where it depends on chance. */
type Verdict = 'served' | 'refused' | 'either';

export interface Fault {
  readonly name: string;
  readonly expected: Readonly<Record<Need, Verdict>>;
  readonly lastsMs: number;
  /** Returns when the fault is there, and when its cause is gone. */
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

const GONE = { nothing: 'served', readiness: 'refused', reading: 'refused', writing: 'refused' } as const;
const READ_ONLY = { ...GONE, reading: 'served' } as const;
const PASSING = { nothing: 'either', readiness: 'either', reading: 'either', writing: 'either' } as const;
export const EXPECTED = { GONE, READ_ONLY, PASSING };

/** Any answer, where the operation has no bound of its own. */
const ANSWER_MAX_MS = 5_000;
const READYZ_MAX_MS = 1_500;
const LIVEZ_MAX_MS = 1_000;
/** An owner's deletion is as long as its waitlist: some five pieces of work, each with its deadline. */
const DELETION_MAX_MS = 25_000;
/** From the fault to when readiness must have noticed. */
const NOTICE_MAX_MS = 2_500;
/** From the database's return to when all is served again. */
const HEAL_MAX_MS = 2_000;
const WATCHED_AFTER_MS = 2_000;
const PAUSE_MS = 50;
/** Each login costs a password's hash. */
const LOGIN_PAUSE_MS = 250;
const WRITE_MAX_MS = 1_000;
const ROOM_BYTES = 2_000_000;
const RETURN_MAX_MS = 120_000;

interface Operation {
  readonly name: string;
  readonly need: Need;
  readonly pauseMs?: number;
  readonly answerMaxMs?: number;
  readonly call: () => Promise<Answer>;
}

interface Sample extends Pick<Answer, 'status'> {
  readonly atMs: number;
  readonly ms: number;
  /** What is wrong with it at any time. */
  readonly fault: string | undefined;
}

export interface Cell {
  readonly operation: string;
  readonly answers: string;
  readonly slowestMs: number;
  readonly healedMs: number;
  readonly faults: readonly string[];
}

/** Every operation of the service, over and over, each in a loop of its own. */
export class Matrix {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly operations: readonly Operation[];
  private people = 0;

  constructor(
    private readonly service: ServiceProcess,
    private readonly databaseUrl: string,
    private readonly place: Place,
    private readonly spare: Place,
  ) {
    const { waitlistId, apiKey, token } = place;
    const one = `/api/v1/waitlist/${waitlistId}`;
    const settings = { waitlist_name: 'Another', waitlist_url_location: 'https://example.com/join' };
    const call = (method: string, path: string, body?: unknown) => () => this.call(method, path, body, token);
    this.operations = [
      { name: 'livez', need: 'nothing', answerMaxMs: LIVEZ_MAX_MS, call: () => this.call('GET', '/livez') },
      { name: 'readyz', need: 'readiness', answerMaxMs: READYZ_MAX_MS, call: () => this.call('GET', '/readyz') },
      { name: 'createSignup', need: 'writing', call: () => this.signUp() },
      { name: 'getSignup', need: 'reading', call: call('GET', `/api/v1/signup?waitlist_id=${waitlistId}&email=first@example.com`) },
      { name: 'listWaiters', need: 'reading', call: call('GET', `/api/v1/waiter?api_key=${apiKey}`) },
      { name: 'offboardWaiters', need: 'writing', call: call('PATCH', '/api/v1/waiter', { api_key: apiKey, offboard_request: true, waiters: [{ id: 1 }] }) },
      { name: 'createTokens', need: 'writing', pauseMs: LOGIN_PAUSE_MS, call: call('POST', '/api/v1/auth/create_tokens', OWNER) },
      { name: 'refreshAccessToken', need: 'writing', pauseMs: LOGIN_PAUSE_MS, call: this.refresher() },
      { name: 'createWaitlist', need: 'writing', pauseMs: LOGIN_PAUSE_MS, call: call('POST', '/api/v1/waitlist', settings) },
      { name: 'listWaitlists', need: 'reading', pauseMs: LOGIN_PAUSE_MS, call: call('GET', '/api/v1/waitlist') },
      { name: 'getWaitlist', need: 'reading', call: call('GET', one) },
      { name: 'updateWaitlist', need: 'writing', call: () => this.rename() },
      { name: 'renewApiKey', need: 'writing', call: call('POST', `/api/v1/waitlist/${spare.waitlistId}/api_key`) },
      { name: 'deleteWaitlist', need: 'writing', pauseMs: LOGIN_PAUSE_MS, answerMaxMs: DELETION_MAX_MS, call: this.deleter() },
    ]; // prettier-ignore
  }

  /** Puts the fault on, takes it off, and says of each operation what was wrong. */
  async endure(fault: Fault): Promise<Cell[]> {
    const connection = await createConnection(this.databaseUrl);
    await connection.query('CREATE TABLE IF NOT EXISTS room (id INT PRIMARY KEY, filler LONGBLOB)');
    await connection.end();
    let isOver = false;
    const watches = this.operations.map((operation) => this.watch(operation, () => isOver));
    await setTimeout(PAUSE_MS);
    let times: Times;
    try {
      await fault.begin();
      const begunMs = performance.now();
      await setTimeout(fault.lastsMs);
      const endingMs = performance.now();
      await fault.end();
      const backMs = await returned(this.databaseUrl);
      times = { noticedMs: begunMs + NOTICE_MAX_MS, endingMs, backMs };
      await setTimeout(HEAL_MAX_MS + WATCHED_AFTER_MS);
    } finally {
      isOver = true;
    }
    const samples = await Promise.all(watches);
    return this.operations.map((operation, index) => judge(operation, fault.expected[operation.need], samples[index] ?? [], times)); // prettier-ignore
  }

  close(): void {
    this.agent.destroy();
  }

  private async watch(
    { name, pauseMs = PAUSE_MS, answerMaxMs = ANSWER_MAX_MS, call }: Operation,
    isOver: () => boolean,
  ): Promise<Sample[]> {
    const samples: Sample[] = [];
    while (!isOver()) {
      const atMs = performance.now();
      try {
        const answer = await call();
        const ms = performance.now() - atMs;
        const fault = ms > answerMaxMs ? `took ${Math.round(ms)} ms` : faultOf(name, answer);
        samples.push({ atMs, ms, status: answer.status, fault });
      } catch (error) {
        samples.push({ atMs, ms: performance.now() - atMs, status: 0, fault: `no answer: ${String(error)}` });
      }
      await setTimeout(pauseMs);
    }
    return samples;
  }

  private async call(method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
    return this.service.call(method, path, body, { agent: this.agent, token });
  }

  private async signUp(): Promise<Answer> {
    const email = `matrix${(this.people += 1)}@example.com`;
    return this.call('POST', '/api/v1/signup', { waitlist_id: this.spare.waitlistId, email });
  }

  private async rename(): Promise<Answer> {
    const path = `/api/v1/waitlist/${this.spare.waitlistId}`;
    return this.call('PATCH', path, { waitlist_name: `Name ${(this.people += 1)}` }, this.spare.token);
  }

  /** Renews one login. A token whose answer was lost for longer than the grace has ended it: then the owner logs in anew. */
  private refresher(): () => Promise<Answer> {
    let token = '';
    let isUnsure = true;
    const logIn = async (): Promise<Answer> => this.call('POST', '/api/v1/auth/create_tokens', OWNER);
    const refresh = async (): Promise<Answer> =>
      this.call('GET', '/api/v1/auth/refresh_access_token', undefined, token);
    return async () => {
      let answer = token === '' ? await logIn() : await refresh();
      if (answer.status === 401 && isUnsure) answer = await logIn();
      isUnsure = answer.status !== 200;
      if (!isUnsure) ({ refresh_token: token } = read(answer));
      return answer;
    };
  }

  /** Deletes waitlists made for that; one whose answer was lost may be gone already. */
  private deleter(): () => Promise<Answer> {
    const settings = { waitlist_name: 'Short-lived', waitlist_url_location: 'https://example.com/join' };
    let id: number | undefined;
    return async () => {
      if (id === undefined) {
        const made = await this.call('POST', '/api/v1/waitlist', settings, this.place.token);
        if (made.status !== 201) return made;
        ({ id } = read(made));
      }
      const answer = await this.call('DELETE', `/api/v1/waitlist/${id}`, undefined, this.place.token);
      if (answer.status === 503) return answer;
      id = undefined;
      return answer.status === 404 ? { ...answer, status: 204 } : answer;
    };
  }
}

interface Times {
  readonly noticedMs: number;
  readonly endingMs: number;
  readonly backMs: number;
}

function faultOf(name: string, { status, headers }: Answer): string | undefined {
  if (isServed(status)) return undefined;
  if (status !== 503 || name === 'livez') return `answered ${status}`;
  return headers['retry-after'] === undefined ? 'said nothing of when to come back' : undefined;
}

function judge({ name }: Operation, expected: Verdict, samples: readonly Sample[], times: Times): Cell {
  const { noticedMs, endingMs, backMs } = times;
  const faults = new Set(samples.flatMap(({ fault }) => fault ?? []));
  const during = samples.filter(({ atMs, ms }) => atMs > noticedMs && atMs + ms < endingMs);
  const after = samples.filter(({ atMs }) => atMs > backMs + HEAL_MAX_MS);
  const healed = samples.find(({ atMs, status }) => atMs > backMs && isServed(status));
  if (expected !== 'either') {
    const wrong = during.find(({ status }) => isServed(status) !== (expected === 'served'));
    if (wrong) faults.add(`answered ${wrong.status} in the middle of it`);
    if (during.length === 0) faults.add('was not asked in the middle of it');
  }
  const late = after.find(({ status }) => !isServed(status));
  if (late) faults.add(`answered ${late.status} ${Math.round(late.atMs - backMs)} ms after the return`);
  if (after.length === 0) faults.add('was not asked after the return');
  const counts = new Map<number, number>();
  for (const { status } of samples) counts.set(status, (counts.get(status) ?? 0) + 1);
  return {
    operation: name,
    answers: [...counts].sort().map(([status, count]) => `${status}×${count}`).join(' '), // prettier-ignore
    slowestMs: Math.round(Math.max(...samples.map(({ ms }) => ms))),
    healedMs: healed ? Math.round(healed.atMs + healed.ms - backMs) : Infinity,
    faults: [...faults],
  };
}

function isServed(status: number): boolean {
  return status >= 200 && status < 300;
}

/** When the database took a write that needs room, from a newcomer. */
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

/** Two waitlists with a person each: one whose people are looked at, one that changes. */
export async function openMatrix(service: ServiceProcess, databaseUrl: string): Promise<Matrix> {
  const place = await openWaitlist(service);
  const spare = await openWaitlist(service);
  for (const { waitlistId } of [place, spare])
    read(await service.call('POST', '/api/v1/signup', { waitlist_id: waitlistId, email: 'first@example.com' }));
  return new Matrix(service, databaseUrl, place, spare);
}

/** Those of the faults that are asked for by name; all where none is. */
export function chosen<Named extends Pick<Fault, 'name'>>(
  faults: readonly Named[],
  names: readonly string[],
): readonly Named[] {
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new Error(`No such fault: ${unknown.join(', ')}`);
  return names.length === 0 ? faults : faults.filter(({ name }) => names.includes(name));
}

/** Prints a row a cell, and counts what a run came to. */
export class Tally {
  private cells = 0;
  private slowestMs = 0;
  private healedMs = 0;
  wrong = 0;

  add(fault: string, cells: readonly Cell[]): void {
    for (const { operation, answers, slowestMs, healedMs, faults } of cells) {
      process.stdout.write(
        `${fault.padEnd(18)} ${operation.padEnd(19)} ${answers.padEnd(22)} slowest ${String(slowestMs).padStart(5)} ms  back ${String(healedMs).padStart(5)} ms  ${faults.join('; ') || 'ok'}\n`,
      );
      this.cells += 1;
      if (faults.length > 0) this.wrong += 1;
      this.slowestMs = Math.max(this.slowestMs, slowestMs);
      this.healedMs = Math.max(this.healedMs, healedMs);
    }
  }

  toString(): string {
    return `${this.cells} cells, ${this.wrong} wrong, the slowest answer ${this.slowestMs} ms, back within ${this.healedMs} ms`;
  }
}
