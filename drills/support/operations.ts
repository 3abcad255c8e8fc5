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
    new CreateSignup(service, ask, changed),
    { name: 'getSignup', need: 'reading', success: 200, call: () => ask('GET', first), isRight: ({ body }) => body.uuid === uuid },
    { name: 'listWaiters', need: 'reading', success: 200, call: () => ask('GET', `/api/v1/waiter?api_key=${apiKey}`), isRight: ({ body, headers }) => body[0].uuid === uuid && headers['x-total-count'] === String(PEOPLE) },
    new OffboardWaiters(service, ask, changed),
    new CreateTokens(ask),
    new RefreshAccessToken(ask),
    new CreateWaitlist(ask),
    { name: 'listWaitlists', need: 'reading', success: 200, pauseMs: LOGIN_PAUSE_MS, call: () => ask('GET', '/api/v1/waitlist'), isRight: ({ body }) => body.some(({ id }: { id: number }) => id === waitlistId) },
    { name: 'getWaitlist', need: 'reading', success: 200, call: () => ask('GET', `/api/v1/waitlist/${waitlistId}`), isRight: ({ body }) => body.statistics.current_signups === PEOPLE },
    new UpdateWaitlist(ask, changed),
    new ReplaceApiKey(ask, keyed),
    new DeleteWaitlist(ask, databaseUrl),
  ]; // prettier-ignore
}

type Ask = (method: string, path: string, body?: unknown, token?: string) => Promise<Answer>;

/** The last answered value, and later ones that were sent without an answer and may be stored. */
class LastWord<Value> {
  private readonly possible: Value[] = [];

  /** `value` is stored if the call succeeds. */
  async asking(value: Value, call: () => Promise<Answer>, success: number): Promise<Answer> {
    this.possible.push(value);
    const answer = await call();
    if (answer.status === success) this.possible.splice(0, this.possible.length, value);
    return answer;
  }

  mayBe(value: Value): boolean {
    return this.possible.includes(value);
  }
}

class CreateSignup implements Operation {
  readonly name = 'createSignup';
  readonly need = 'room';
  readonly success = 200;
  private readonly answered = new Map<string, Joined>();
  private people = 0;

  constructor(
    private readonly service: ServiceProcess,
    private readonly ask: Ask,
    private readonly place: TestWaitlist,
  ) {}

  async call(): Promise<Answer> {
    const email = `matrix${(this.people += 1)}@example.com`;
    const body = { waitlist_id: this.place.waitlistId, email, metadata: { text: ROOMY_TEXT } };
    const answer = await this.ask('POST', '/api/v1/signup', body);
    if (answer.status === 200) this.answered.set(email, answer.body as Joined);
    return answer;
  }

  async findBroken(): Promise<string[]> {
    const waiters = await listWaiters(this.service, this.place, false);
    const byEmail = new Map(waiters.map((waiter) => [waiter.email, waiter]));
    return [
      ...(byEmail.size < waiters.length ? [`${waiters.length} records of ${byEmail.size} people`] : []),
      ...[...this.answered].flatMap(([email, { uuid, referral_token }]) => {
        const waiter = byEmail.get(email);
        return waiter?.uuid === uuid && waiter.referral_token === referral_token ? [] : [`lost ${email}`];
      }),
    ];
  }
}

/** Sends the same people again until it is answered. */
class OffboardWaiters implements Operation {
  readonly name = 'offboardWaiters';
  readonly need = 'writing';
  readonly success = 200;
  readonly pauseMs = LOGIN_PAUSE_MS;
  private readonly answered = new Map<number, number>();
  /** Sent once without an answer, so perhaps offboarded already; then a later answer leaves them out. */
  private readonly doubtful = new Set<number>();
  private candidates: number[] = [];

  constructor(
    private readonly service: ServiceProcess,
    private readonly ask: Ask,
    private readonly place: TestWaitlist,
  ) {}

  async prepare(): Promise<void> {
    if (this.candidates.length === 0)
      this.candidates = (await listWaiters(this.service, this.place, false)).map(({ id }) => id);
  }

  async call(): Promise<Answer> {
    const ids = this.candidates.slice(0, OFFBOARDED_AT_ONCE);
    const body = { api_key: this.place.apiKey, offboard_request: true, waiters: ids.map((id) => ({ id })) };
    const isRepeat = ids.some((id) => this.doubtful.has(id));
    for (const id of ids) this.doubtful.add(id);
    const answer = await this.ask('PATCH', '/api/v1/waiter', body);
    if (answer.status !== 200) return answer;
    const removed = answer.body as { id: number; removed_priority: number }[];
    for (const { id, removed_priority } of removed) this.answered.set(id, removed_priority);
    for (const id of ids) this.doubtful.delete(id);
    this.candidates.splice(0, ids.length);
    if (!isRepeat && removed.length < ids.length) throw new Error(`Of ${ids.join(', ')} not all were offboarded`);
    return answer;
  }

  async findBroken(): Promise<string[]> {
    const removedAt = new Map(
      (await listWaiters(this.service, this.place, true)).map(({ id, removed_priority }) => [id, removed_priority]),
    );
    const unasked = this.candidates.filter((id) => !this.doubtful.has(id));
    return [
      ...[...this.answered].filter(([id, priority]) => removedAt.get(id) !== priority).map(([id]) => `${id} is not offboarded as answered`),
      ...unasked.filter((id) => removedAt.has(id)).map((id) => `${id} is offboarded without a request`),
    ]; // prettier-ignore
  }
}

class CreateTokens implements Operation {
  readonly name = 'createTokens';
  readonly need = 'writing';
  readonly success = 200;
  readonly pauseMs = LOGIN_PAUSE_MS;
  private readonly answered: { readonly access_token: string; readonly refresh_token: string }[] = [];

  constructor(private readonly ask: Ask) {}

  async call(): Promise<Answer> {
    const answer = await this.ask('POST', '/api/v1/auth/create_tokens', OWNER);
    if (answer.status === 200) this.answered.push(answer.body);
    return answer;
  }

  /** Uses up each refresh token. */
  async findBroken(): Promise<string[]> {
    const broken: string[] = [];
    for (const { access_token, refresh_token } of this.answered.splice(0)) {
      const owned = await this.ask('GET', '/api/v1/waitlist', undefined, access_token);
      const renewed = await this.ask('GET', '/api/v1/auth/refresh_access_token', undefined, refresh_token);
      if (owned.status !== 200) broken.push(`an access token is answered ${owned.status}`);
      if (renewed.status !== 200) broken.push(`a refresh token is answered ${renewed.status}`);
    }
    return broken;
  }
}

/** Renews one login. If the answer was lost for longer than the grace period, the login has ended and is made anew. */
class RefreshAccessToken implements Operation {
  readonly name = 'refreshAccessToken';
  readonly need = 'writing';
  readonly success = 200;
  readonly pauseMs = LOGIN_PAUSE_MS;
  private token = '';
  private isDoubtful = true;

  constructor(private readonly ask: Ask) {}

  async call(): Promise<Answer> {
    const logIn = async () => this.ask('POST', '/api/v1/auth/create_tokens', OWNER);
    let answer = this.token === '' ? await logIn() : await this.refresh();
    if (answer.status === 401 && this.isDoubtful) answer = await logIn();
    this.isDoubtful = answer.status !== 200;
    if (!this.isDoubtful) this.token = answer.body.refresh_token as string;
    return answer;
  }

  async findBroken(): Promise<string[]> {
    const { status } = await this.call();
    return status === 200 ? [] : [`the token answered last is answered ${status}`];
  }

  private async refresh(): Promise<Answer> {
    return this.ask('GET', '/api/v1/auth/refresh_access_token', undefined, this.token);
  }
}

class CreateWaitlist implements Operation {
  readonly name = 'createWaitlist';
  readonly need = 'writing';
  readonly success = 201;
  readonly pauseMs = RARE_PAUSE_MS;
  private readonly answered = new Map<number, string>();

  constructor(private readonly ask: Ask) {}

  async call(): Promise<Answer> {
    const answer = await this.ask('POST', '/api/v1/waitlist', SETTINGS);
    if (answer.status === 201) this.answered.set(answer.body.id as number, answer.body.api_key as string);
    return answer;
  }

  /** Deletes those that it finds, because `verify` takes time for each. */
  async findBroken(): Promise<string[]> {
    const { body } = await this.ask('GET', '/api/v1/waitlist');
    const listed = new Set((body as { id: number }[]).map(({ id }) => id));
    const broken: string[] = [];
    for (const [id, key] of this.answered) {
      const { status } = await this.ask('GET', `/api/v1/waiter?api_key=${key}`);
      if (!listed.has(id) || status !== 200) broken.push(`lost waitlist ${id}`);
      else read(await this.ask('DELETE', `/api/v1/waitlist/${id}`));
    }
    this.answered.clear();
    return broken;
  }
}

class UpdateWaitlist implements Operation {
  readonly name = 'updateWaitlist';
  readonly need = 'writing';
  readonly success = 200;
  private readonly path: string;
  private readonly names = new LastWord<string>();
  private count = 0;

  constructor(
    private readonly ask: Ask,
    { waitlistId }: TestWaitlist,
  ) {
    this.path = `/api/v1/waitlist/${waitlistId}`;
  }

  async call(): Promise<Answer> {
    const name = `Name ${(this.count += 1)}`;
    return this.names.asking(name, () => this.ask('PATCH', this.path, { waitlist_name: name }), this.success);
  }

  async findBroken(): Promise<string[]> {
    const { body } = await this.ask('GET', this.path);
    return this.names.mayBe(body.waitlist_name as string) ? [] : [`it is called ${body.waitlist_name}`];
  }
}

class ReplaceApiKey implements Operation {
  readonly name = 'replaceApiKey';
  readonly need = 'writing';
  readonly success = 201;
  private key: string;
  /** A newer key may have been made without an answer. */
  private isDoubtful = false;

  constructor(
    private readonly ask: Ask,
    private readonly place: TestWaitlist,
  ) {
    this.key = place.apiKey;
  }

  async call(): Promise<Answer> {
    this.isDoubtful = true;
    const answer = await this.ask('POST', `/api/v1/waitlist/${this.place.waitlistId}/api_key`);
    if (answer.status !== 201) return answer;
    this.isDoubtful = false;
    this.key = answer.body.api_key as string;
    return answer;
  }

  async findBroken(): Promise<string[]> {
    const opens = async (key: string) => (await this.ask('GET', `/api/v1/waiter?api_key=${key}`)).status;
    const [status, ended] = [await opens(this.key), await opens(this.place.apiKey)];
    return [
      ...(status === 200 || this.isDoubtful ? [] : [`the key answered last is answered ${status}`]),
      ...(ended === 403 ? [] : [`the first key is answered ${ended}`]),
    ];
  }
}

/** Deletes waitlists made for that. One whose answer was lost may be gone already. */
class DeleteWaitlist implements Operation {
  readonly name = 'deleteWaitlist';
  readonly need = 'writing';
  readonly success = 204;
  readonly pauseMs = RARE_PAUSE_MS;
  private readonly standing: number[] = [];
  private readonly answered: number[] = [];
  private doubtful: number | undefined;

  constructor(
    private readonly ask: Ask,
    private readonly databaseUrl: string,
  ) {}

  async prepare(): Promise<void> {
    while (this.standing.length < SHORT_LIVED) {
      const refusal = await this.make();
      if (refusal) throw new Error(`A waitlist could not be made: ${refusal.text}`);
    }
  }

  async call(): Promise<Answer> {
    const refusal = this.standing.length === 0 ? await this.make() : undefined;
    if (refusal) return refusal;
    const id = this.standing[0] as number;
    const isRepeat = this.doubtful === id;
    this.doubtful = id;
    const answer = await this.ask('DELETE', `/api/v1/waitlist/${id}`);
    const isGone = answer.status === 204 || (answer.status === 404 && isRepeat);
    if (!isGone) return answer;
    this.standing.shift();
    this.answered.push(id);
    return { ...answer, status: 204 };
  }

  /** Makes one more waitlist to delete; returns the failed answer, if any. */
  private async make(): Promise<Answer | undefined> {
    const made = await this.ask('POST', '/api/v1/waitlist', SETTINGS);
    if (made.status !== 201) return made;
    const { id } = made.body as { id: number };
    const people = Array.from({ length: SHORT_LIVED_PEOPLE }, (_, index) => `person${index}@example.com`);
    const joined = await Promise.all(people.map((email) => this.ask('POST', '/api/v1/signup', { waitlist_id: id, email }))); // prettier-ignore
    const refusal = joined.find(({ status }) => status !== 200);
    if (!refusal) this.standing.push(id);
    return refusal;
  }

  /** Deleted waitlists must not be listed, and their records must be purged after a while. */
  async findBroken(): Promise<string[]> {
    const { body } = await this.ask('GET', '/api/v1/waitlist');
    const listed = new Set((body as { id: number }[]).map(({ id }) => id));
    const lost = this.standing.filter((id) => id !== this.doubtful && !listed.has(id));
    const connection = await createConnection(this.databaseUrl);
    try {
      await until(async () => {
        const [rows] = await connection.query<RowDataPacket[]>('SELECT waitlist_id FROM deleted_waitlist');
        return rows.length === 0;
      });
      const [[row]] = await connection.query<RowDataPacket[]>(
        'SELECT COUNT(*) AS amount FROM waiter WHERE waitlist_id NOT IN (SELECT id FROM waitlist)',
      );
      return [
        ...this.answered.filter((id) => listed.has(id)).map((id) => `waitlist ${id} stands`),
        ...lost.map((id) => `lost waitlist ${id}`),
        ...(Number(row?.amount) > 0 ? [`${row?.amount} records without their waitlist`] : []),
      ];
    } finally {
      await connection.end();
    }
  }
}
