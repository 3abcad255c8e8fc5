import type { Agent } from 'node:http';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Answer } from '../../test/support/api.js';
import { OWNER, type ServiceProcess, until } from '../../test/support/service-process.js';
import { seed } from './command-line.js';
import { listWaiters, openWaitlist, type TestWaitlist, read, SETTINGS } from './traffic.js';

/** What an operation needs; `room` is a write that needs a new page of the database. */
export type Need = 'nothing' | 'readiness' | 'reading' | 'writing' | 'room';

/** An operation of the matrix; its calls run one after the other. */
export interface Operation {
  readonly name: string;
  readonly need: Need;
  /** The status of success. */
  readonly success: number;
  readonly pauseMs?: number;
  readonly answerMaxMs?: number;
  call(): Promise<Answer>;
  /** Whether a success has the right content. */
  readonly isRight?: (answer: Answer) => boolean;
  /** Runs before each fault. */
  prepare?(): Promise<void>;
  /** After a fault: answered changes that are not stored as answered. */
  findBroken?(): Promise<string[]>;
}

const READYZ_MAX_MS = 1_500;
const LIVEZ_MAX_MS = 1_000;
/** Each login costs a password hash. */
const LOGIN_PAUSE_MS = 250;
const RARE_PAUSE_MS = 500;
/** The size of a waitlist at first; more than a run offboards. */
const PEOPLE = 3_000;
const SHORT_LIVED_PEOPLE = 3;
/** Enough to delete for half a minute; during a longer fault more are made. */
const SHORT_LIVED = 60;
const OFFBOARDED_AT_ONCE = 2;
/** A few fit into a page and are stored in it; MariaDB needs space to roll back text stored elsewhere. */
const ROOMY_TEXT = 'x'.repeat(3_000);

interface Joined {
  readonly uuid: string;
  readonly referral_token: string;
}

/** Every operation of the service, on waitlists with people. */
export async function openOperations(service: ServiceProcess, databaseUrl: string, agent: Agent): Promise<Operation[]> {
  const [looked, changed, keyed] = [
    await openWaitlist(service),
    await openWaitlist(service),
    await openWaitlist(service),
  ];
  for (const { waitlistId } of [looked, changed]) await seed(databaseUrl, waitlistId, PEOPLE);
  const { waitlistId, apiKey, token } = looked;
  const ask: Ask = async (method, path, body, bearer = token) =>
    service.call(method, path, body, { agent, token: bearer });
  const first = `/api/v1/signup?waitlist_id=${waitlistId}&email=seed-0@example.com`;
  const { uuid } = read(await ask('GET', first)) as Joined;
  return [
    { name: 'livez', need: 'nothing', success: 200, answerMaxMs: LIVEZ_MAX_MS, call: () => ask('GET', '/livez') },
    { name: 'readyz', need: 'readiness', success: 200, answerMaxMs: READYZ_MAX_MS, call: () => ask('GET', '/readyz') },
    createSignup(service, ask, changed),
    {
      name: 'getSignup',
      need: 'reading',
      success: 200,
      call: () => ask('GET', first),
      isRight: ({ body }) => body.uuid === uuid,
    },
    {
      name: 'listWaiters',
      need: 'reading',
      success: 200,
      call: () => ask('GET', `/api/v1/waiter?api_key=${apiKey}`),
      isRight: ({ body, headers }) => body[0].uuid === uuid && headers['x-total-count'] === String(PEOPLE),
    },
    offboardWaiters(service, ask, changed),
    createTokens(ask),
    refreshAccessToken(ask),
    createWaitlist(ask),
    {
      name: 'listWaitlists',
      need: 'reading',
      success: 200,
      pauseMs: LOGIN_PAUSE_MS,
      call: () => ask('GET', '/api/v1/waitlist'),
      isRight: ({ body }) => body.some(({ id }: { id: number }) => id === waitlistId),
    },
    {
      name: 'getWaitlist',
      need: 'reading',
      success: 200,
      call: () => ask('GET', `/api/v1/waitlist/${waitlistId}`),
      isRight: ({ body }) => body.statistics.current_signups === PEOPLE,
    },
    {
      name: 'getStatistics',
      need: 'reading',
      success: 200,
      call: () => ask('GET', `/api/v1/waitlist/${waitlistId}/statistics`),
      isRight: ({ body }) =>
        body.days.reduce((sum: number, { signups }: { signups: number }) => sum + signups, 0) === PEOPLE,
    },
    updateWaitlist(ask, changed),
    replaceApiKey(ask, keyed),
    deleteWaitlist(ask, databaseUrl),
  ];
}

type Ask = (method: string, path: string, body?: unknown, token?: string) => Promise<Answer>;

/** Each function makes an operation that remembers its answers. */
function createSignup(service: ServiceProcess, ask: Ask, place: TestWaitlist): Operation {
  const answered = new Map<string, Joined>();
  let people = 0;
  return {
    name: 'createSignup',
    need: 'room',
    success: 200,
    async call() {
      const email = `matrix${(people += 1)}@example.com`;
      const body = { waitlist_id: place.waitlistId, email, metadata: { text: ROOMY_TEXT } };
      const answer = await ask('POST', '/api/v1/signup', body);
      if (answer.status === 200) answered.set(email, answer.body as Joined);
      return answer;
    },
    async findBroken() {
      const waiters = await listWaiters(service, place, false);
      const byEmail = new Map(waiters.map((waiter) => [waiter.email, waiter]));
      const lost = [...answered].filter(([email, { uuid, referral_token }]) => {
        const waiter = byEmail.get(email);
        return waiter?.uuid !== uuid || waiter.referral_token !== referral_token;
      });
      const doubled = byEmail.size < waiters.length ? [`${waiters.length} records of ${byEmail.size} people`] : [];
      return [...doubled, ...lost.map(([email]) => `lost ${email}`)];
    },
  };
}

/** Sends the same people again until it is answered. */
function offboardWaiters(service: ServiceProcess, ask: Ask, place: TestWaitlist): Operation {
  const answered = new Map<number, number>();
  /** Sent once without an answer, so perhaps offboarded already; then a later answer leaves them out. */
  const doubtful = new Set<number>();
  let candidates: number[] = [];
  return {
    name: 'offboardWaiters',
    need: 'writing',
    success: 200,
    pauseMs: LOGIN_PAUSE_MS,
    async prepare() {
      if (candidates.length === 0) candidates = (await listWaiters(service, place, false)).map(({ id }) => id);
    },
    async call() {
      const ids = candidates.slice(0, OFFBOARDED_AT_ONCE);
      const body = { api_key: place.apiKey, offboard_request: true, waiters: ids.map((id) => ({ id })) };
      const isRepeat = ids.some((id) => doubtful.has(id));
      for (const id of ids) doubtful.add(id);
      const answer = await ask('PATCH', '/api/v1/waiter', body);
      if (answer.status !== 200) return answer;
      const removed = answer.body as { id: number; removed_priority: number }[];
      for (const { id, removed_priority } of removed) answered.set(id, removed_priority);
      for (const id of ids) doubtful.delete(id);
      candidates.splice(0, ids.length);
      if (!isRepeat && removed.length < ids.length) throw new Error(`Of ${ids.join(', ')} not all were offboarded`);
      return answer;
    },
    async findBroken() {
      const offboarded = await listWaiters(service, place, true);
      const removedAt = new Map(offboarded.map(({ id, removed_priority }) => [id, removed_priority]));
      const wrong = [...answered].filter(([id, priority]) => removedAt.get(id) !== priority);
      const unasked = candidates.filter((id) => !doubtful.has(id) && removedAt.has(id));
      return [
        ...wrong.map(([id]) => `${id} is not offboarded as answered`),
        ...unasked.map((id) => `${id} is offboarded without a request`),
      ];
    },
  };
}

function createTokens(ask: Ask): Operation {
  const answered: { readonly access_token: string; readonly refresh_token: string }[] = [];
  return {
    name: 'createTokens',
    need: 'writing',
    success: 200,
    pauseMs: LOGIN_PAUSE_MS,
    async call() {
      const answer = await ask('POST', '/api/v1/auth/create_tokens', OWNER);
      if (answer.status === 200) answered.push(answer.body);
      return answer;
    },
    /** Uses up each refresh token. */
    async findBroken() {
      const broken: string[] = [];
      for (const { access_token, refresh_token } of answered.splice(0)) {
        const owned = await ask('GET', '/api/v1/waitlist', undefined, access_token);
        const renewed = await ask('GET', '/api/v1/auth/refresh_access_token', undefined, refresh_token);
        if (owned.status !== 200) broken.push(`an access token is answered ${owned.status}`);
        if (renewed.status !== 200) broken.push(`a refresh token is answered ${renewed.status}`);
      }
      return broken;
    },
  };
}

/** Renews one login. If the answer was lost for longer than the grace period, the login has ended and is made anew. */
function refreshAccessToken(ask: Ask): Operation {
  let token = '';
  let isDoubtful = true;
  const logIn = async () => ask('POST', '/api/v1/auth/create_tokens', OWNER);
  const call = async () => {
    let answer = token === '' ? await logIn() : await ask('GET', '/api/v1/auth/refresh_access_token', undefined, token);
    if (answer.status === 401 && isDoubtful) answer = await logIn();
    isDoubtful = answer.status !== 200;
    if (!isDoubtful) token = answer.body.refresh_token as string;
    return answer;
  };
  return {
    name: 'refreshAccessToken',
    need: 'writing',
    success: 200,
    pauseMs: LOGIN_PAUSE_MS,
    call,
    async findBroken() {
      const { status } = await call();
      return status === 200 ? [] : [`the token answered last is answered ${status}`];
    },
  };
}

function createWaitlist(ask: Ask): Operation {
  const answered = new Map<number, string>();
  return {
    name: 'createWaitlist',
    need: 'writing',
    success: 201,
    pauseMs: RARE_PAUSE_MS,
    async call() {
      const answer = await ask('POST', '/api/v1/waitlist', SETTINGS);
      if (answer.status === 201) answered.set(answer.body.id as number, answer.body.api_key as string);
      return answer;
    },
    /** Deletes those that it finds, because `verify` takes time for each. */
    async findBroken() {
      const listed = await listedIds(ask);
      const broken: string[] = [];
      for (const [id, key] of answered) {
        const { status } = await ask('GET', `/api/v1/waiter?api_key=${key}`);
        if (!listed.has(id) || status !== 200) broken.push(`lost waitlist ${id}`);
        else read(await ask('DELETE', `/api/v1/waitlist/${id}`));
      }
      answered.clear();
      return broken;
    },
  };
}

async function listedIds(ask: Ask): Promise<Set<number>> {
  const { body } = await ask('GET', '/api/v1/waitlist');
  return new Set((body as { id: number }[]).map(({ id }) => id));
}

function updateWaitlist(ask: Ask, { waitlistId }: TestWaitlist): Operation {
  const path = `/api/v1/waitlist/${waitlistId}`;
  /** The name answered last, and later ones that were sent without an answer and may be stored. */
  const possible: string[] = [];
  let count = 0;
  return {
    name: 'updateWaitlist',
    need: 'writing',
    success: 200,
    async call() {
      const name = `Name ${(count += 1)}`;
      possible.push(name);
      const answer = await ask('PATCH', path, { waitlist_name: name });
      if (answer.status === 200) possible.splice(0, possible.length, name);
      return answer;
    },
    async findBroken() {
      const { body } = await ask('GET', path);
      return possible.includes(body.waitlist_name as string) ? [] : [`it is called ${body.waitlist_name}`];
    },
  };
}

function replaceApiKey(ask: Ask, { waitlistId, apiKey: firstKey }: TestWaitlist): Operation {
  let key = firstKey;
  /** A newer key may have been made without an answer. */
  let isDoubtful = false;
  const statusOf = async (one: string) => (await ask('GET', `/api/v1/waiter?api_key=${one}`)).status;
  return {
    name: 'replaceApiKey',
    need: 'writing',
    success: 201,
    async call() {
      isDoubtful = true;
      const answer = await ask('POST', `/api/v1/waitlist/${waitlistId}/api_key`);
      if (answer.status !== 201) return answer;
      isDoubtful = false;
      key = answer.body.api_key as string;
      return answer;
    },
    async findBroken() {
      const [status, ended] = [await statusOf(key), await statusOf(firstKey)];
      return [
        ...(status === 200 || isDoubtful ? [] : [`the key answered last is answered ${status}`]),
        ...(ended === 403 ? [] : [`the first key is answered ${ended}`]),
      ];
    },
  };
}

/** Deletes waitlists made for that. One whose answer was lost may be gone already. */
function deleteWaitlist(ask: Ask, databaseUrl: string): Operation {
  const standing: number[] = [];
  const answered: number[] = [];
  let doubtful: number | undefined;

  /** Makes one more waitlist to delete; returns the failed answer, if any. */
  async function make(): Promise<Answer | undefined> {
    const made = await ask('POST', '/api/v1/waitlist', SETTINGS);
    if (made.status !== 201) return made;
    const { id } = made.body as { id: number };
    const people = Array.from({ length: SHORT_LIVED_PEOPLE }, (_, index) => `person${index}@example.com`);
    const joined = await Promise.all(people.map((email) => ask('POST', '/api/v1/signup', { waitlist_id: id, email })));
    const refusal = joined.find(({ status }) => status !== 200);
    if (!refusal) standing.push(id);
    return refusal;
  }

  return {
    name: 'deleteWaitlist',
    need: 'writing',
    success: 204,
    pauseMs: RARE_PAUSE_MS,
    async prepare() {
      while (standing.length < SHORT_LIVED) {
        const refusal = await make();
        if (refusal) throw new Error(`A waitlist could not be made: ${refusal.text}`);
      }
    },
    async call() {
      const refusal = standing.length === 0 ? await make() : undefined;
      if (refusal) return refusal;
      const id = standing[0] as number;
      const isRepeat = doubtful === id;
      doubtful = id;
      const answer = await ask('DELETE', `/api/v1/waitlist/${id}`);
      const isGone = answer.status === 204 || (answer.status === 404 && isRepeat);
      if (!isGone) return answer;
      standing.shift();
      answered.push(id);
      return { ...answer, status: 204 };
    },
    /** Deleted waitlists must not be listed, and their records must be purged after a while. */
    async findBroken() {
      const listed = await listedIds(ask);
      const lost = standing.filter((id) => id !== doubtful && !listed.has(id));
      const connection = await createConnection(databaseUrl);
      try {
        await until(async () => {
          const [rows] = await connection.query<RowDataPacket[]>('SELECT waitlist_id FROM deleted_waitlist');
          return rows.length === 0;
        });
        const [[row]] = await connection.query<RowDataPacket[]>(
          'SELECT COUNT(*) AS amount FROM waiter WHERE waitlist_id NOT IN (SELECT id FROM waitlist)',
        );
        return [
          ...answered.filter((id) => listed.has(id)).map((id) => `waitlist ${id} stands`),
          ...lost.map((id) => `lost waitlist ${id}`),
          ...(Number(row?.amount) > 0 ? [`${row?.amount} records without their waitlist`] : []),
        ];
      } finally {
        await connection.end();
      }
    },
  };
}
