import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { Answer } from '../../test/support/api.js';
import { withDataSource } from '../../test/support/database.js';
import { inOrder } from '../../test/support/oracle.js';
import { OWNER, type ServiceProcess } from '../../test/support/service-process.js';
import { verify } from './command-line.js';

export const SETTINGS = {
  waitlist_name: 'Faults',
  waitlist_url_location: 'https://example.com/join',
  // The traffic of a drill comes from one network and names few referrers; all of it is credited.
  fraud: { referrals_per_hour: null, referrals_per_network_per_hour: null },
};
const VISITOR_PAUSE_MS = 10;
/** Retries without a pause would take the processor time that the services need to return. */
const UNANSWERED_PAUSE_MS = 100;
const OFFBOARDER_PAUSE_MS = 100;
const REORDER_PAUSE_MS = 300;
const DELETION_PAUSE_MS = 50;
const TREATMENT_PAUSE_MS = 30;
/** Spots that the owner grants, in turn; few people have so many to take back. */
const GRANTED_SPOTS = [1, 7, 40, -5] as const;
/** One in so many treated people is erased. */
const ERASED_ONE_IN = 4;
/** On a waitlist made to be deleted. */
const SHORT_LIVED_PEOPLE = 5;
/** The values of spots_to_move_upon_referral, in turn. */
const SPOTS = [3, 0, 50, 1] as const;
const PAGE_SIZE = 100;
const DIFFERENCES_MAX = 20;

interface Signup {
  readonly uuid: string;
  readonly referral_token: string;
  readonly referred_by_signup_token: string | null;
}

/** A person whose signup was answered. */
interface Person {
  readonly signup: Signup;
  readonly referrer: string | null;
  /** The states that the record may be in: more than one after an unanswered correction. */
  states: readonly Corrected[];
  erasure: 'none' | 'unanswered' | 'answered';
}

interface Corrected {
  readonly firstName: string;
  readonly advanced: number;
}

interface Waiter {
  readonly id: number;
  readonly uuid: string;
  readonly email: string;
  readonly first_name: string;
  readonly priority: number;
  readonly amount_referred: number;
  readonly referral_token: string;
  readonly referred_by_waiter_token: string | null;
  readonly removed_priority: number | null;
}

export interface TestWaitlist {
  readonly waitlistId: number;
  readonly apiKey: string;
  readonly token: string;
}

/** Logs in as the first account of a service and makes a waitlist. */
export async function openWaitlist(service: ServiceProcess): Promise<TestWaitlist> {
  const { access_token: token } = read(await service.call('POST', '/api/v1/auth/create_tokens', OWNER));
  const { id, api_key } = read(await service.call('POST', '/api/v1/waitlist', SETTINGS, { token }));
  return { waitlistId: id, apiKey: api_key, token };
}

/**
 * Visitors who sign up, refer each other and retry without an answer, and an owner who offboards, corrects, advances
 * and erases them. It keeps every answer and compares them with the database at the end.
 */
export class Traffic {
  /** Counts of each kind of answer, such as `join 200`. */
  readonly outcomes = new Map<string, number>();
  slowestMs = 0;
  private readonly answered = new Map<string, Person>();
  private readonly tokens: string[] = [];
  /** The tokens of people whose erasure was answered. */
  private readonly goneTokens = new Set<string>();
  /** Emails without a 200 so far, and the token of their referrer. */
  private readonly unsure = new Map<string, string | null>();
  private readonly offboarded = new Map<string, number>();
  private readonly deleted: number[] = [];
  private readonly contradictions: string[] = [];
  private readonly agent = new Agent({ keepAlive: true });
  private readonly actors: Promise<void>[] = [];
  private people = 0;
  private isOver = false;

  /** `services` returns those to call at the moment; actors take turns. */
  constructor(
    private readonly services: () => readonly ServiceProcess[],
    private readonly place: TestWaitlist,
    private readonly prefix = 'p',
  ) {}

  start(visitors: number, offboarders = 1): void {
    for (let index = 0; index < visitors; index += 1) this.actors.push(this.visit(index));
    for (let index = 0; index < offboarders; index += 1) this.actors.push(this.letIn(index));
    this.actors.push(this.treat());
  }

  /** The owner changes spots_to_move_upon_referral again and again. */
  startReordering(): void {
    this.actors.push(this.reorder());
  }

  /** The owner makes waitlists that people join, and deletes them. */
  startDeleting(): void {
    this.actors.push(this.delete());
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.actors);
    this.agent.destroy();
  }

  get signups(): number {
    return this.answered.size;
  }

  get failures(): ReadonlyMap<string, number> {
    return new Map([...this.outcomes].filter(([outcome]) => !/ 20\d$/.test(outcome)));
  }

  /**
   * Prints the differences and a summary that begins with `name`; returns whether all is well. Call it after `stop`.
   */
  async conclude(name: string, service: ServiceProcess, databaseUrl: string): Promise<boolean> {
    const differences = await this.audit(service, databaseUrl);
    for (const difference of differences) process.stdout.write(`${difference}\n`);
    const outcomes = [...this.outcomes].sort().map(([outcome, count]) => `${outcome}×${count}`);
    process.stdout.write(
      `${name}; ${outcomes.join(' ')}, at the slowest in ${Math.round(this.slowestMs)} ms; ${this.signups} people answered, ${differences.length} differences\n`,
    );
    return differences.length === 0 && this.signups > 0;
  }

  /** The differences between database and answers. */
  private async audit(service: ServiceProcess, databaseUrl: string): Promise<string[]> {
    const active = await listWaiters(service, this.place, false);
    const offboarded = await listWaiters(service, this.place, true);
    const all = [...active, ...offboarded];
    const { facts, tombstones } = await readFacts(databaseUrl, this.place.waitlistId);
    const byEmail = new Map(all.map((waiter) => [waiter.email, waiter]));
    const erased = new Set(tombstones.map(({ uuid }) => uuid));
    const differences = [...this.contradictions];
    const find = (isWrong: boolean, words: string) => isWrong && differences.push(words);

    find(byEmail.size !== all.length, `${all.length} records of ${byEmail.size} people`);
    const people = [...this.answered.values()];
    const leaving = new Set(
      people.filter(({ erasure }) => erasure !== 'none').map(({ signup }) => signup.referral_token),
    );
    for (const [email, { signup, referrer, erasure, states }] of this.answered) {
      // A referrer may have been erased before the signup.
      const referrers = referrer !== null && leaving.has(referrer) ? [referrer, null] : [referrer];
      find(!referrers.includes(signup.referred_by_signup_token), `${email} was not referred by ${referrer}`);
      const waiter = byEmail.get(email);
      const isErased = erased.has(signup.uuid);
      find(
        isErased ? erasure === 'none' : erasure === 'answered',
        `${email}: erasure ${erasure}, but ${isErased ? '' : 'not '}erased`,
      );
      find(isErased === (waiter !== undefined), `${email} was answered and is ${isErased ? 'still listed' : 'lost'}`);
      if (waiter === undefined) continue;
      const state = { firstName: waiter.first_name, advanced: facts.get(waiter.uuid)?.advanced };
      find(
        !states.some((one) => one.firstName === state.firstName && one.advanced === state.advanced),
        `${email} is ${JSON.stringify(state)}, not ${JSON.stringify(states)}`,
      );
      find(waiter.uuid !== signup.uuid, `${email} was answered another uuid`);
      find(waiter.referral_token !== signup.referral_token, `${email} was answered another token`);
      find(waiter.referred_by_waiter_token !== signup.referred_by_signup_token, `${email} lost the referrer`);
    }
    for (const { email } of all) find(!this.answered.has(email) && !this.unsure.has(email), `${email} never signed up`);
    const referrals = new Map<string, number>();
    const referrers = [
      ...all.map((waiter) => waiter.referred_by_waiter_token),
      ...tombstones.map(({ referrer }) => referrer),
    ];
    for (const token of referrers) if (token !== null) referrals.set(token, (referrals.get(token) ?? 0) + 1);
    for (const { email, referral_token, amount_referred } of all)
      find(
        amount_referred !== (referrals.get(referral_token) ?? 0),
        `${email} has ${amount_referred} referrals, not ${referrals.get(referral_token) ?? 0}`,
      );
    const places = active.map(({ priority }) => priority).sort((a, b) => a - b);
    find(
      places.some((place, index) => place !== index),
      'the positions are not a permutation',
    );
    const spots = await this.spotsPerReferral(service);
    for (const [place, { email, priority }] of line(active, facts, spots).entries())
      find(priority !== place, `${email} is at ${priority}, but earned ${place}`);
    const removedAt = new Map(offboarded.map(({ uuid, removed_priority }) => [uuid, removed_priority]));
    for (const [uuid, priority] of this.offboarded)
      find(
        !erased.has(uuid) && removedAt.get(uuid) !== priority,
        `${uuid} was offboarded at ${priority}, and is at ${removedAt.get(uuid)}`,
      );
    for (const id of this.deleted) {
      const { status } = await service.call('GET', `/api/v1/waitlist/${id}`);
      find(status !== 404, `waitlist ${id} was deleted, but is answered ${status}`);
    }
    await verify(databaseUrl).catch((error: unknown) => differences.push(String(error)));
    return differences.slice(0, DIFFERENCES_MAX);
  }

  private async visit(turn: number): Promise<void> {
    for (; !this.isOver; turn += 1) {
      const back = turn % 4 === 0 ? [...this.unsure.keys()].at(0) : undefined;
      const email = back ?? `${this.prefix}${(this.people += 1)}@example.com`;
      const referrer = back === undefined ? this.someReferrer() : (this.unsure.get(email) ?? null);
      this.unsure.delete(email);
      const body = {
        waitlist_id: this.place.waitlistId,
        email,
        ...(referrer && { referral_link: `https://example.com/?ref_id=${referrer}` }),
      };
      const isGone = referrer !== null && back === undefined && this.goneTokens.has(referrer);
      const answer = await this.ask(turn, 'join', 'POST', '/api/v1/signup', body);
      if (answer?.status === 200) this.note(email, isGone ? null : referrer, read(answer));
      else this.unsure.set(email, referrer);
      await setTimeout(answer ? VISITOR_PAUSE_MS : UNANSWERED_PAUSE_MS);
    }
  }

  private note(email: string, referrer: string | null, signup: Signup): void {
    if (this.answered.has(email)) return;
    this.tokens.push(signup.referral_token);
    this.answered.set(email, { signup, referrer, states: [{ firstName: '', advanced: 0 }], erasure: 'none' });
  }

  /** The owner corrects and advances one person after the other, and erases some. */
  private async treat(): Promise<void> {
    const { waitlistId: waitlist_id, token } = this.place;
    for (let turn = 0; !this.isOver; turn += 1) {
      await setTimeout(TREATMENT_PAUSE_MS);
      const people = [...this.answered.values()].filter(({ erasure }) => erasure === 'none');
      const person = people[(turn * 7919) % people.length];
      if (person === undefined) continue;
      const { uuid, referral_token } = person.signup;
      if (turn % ERASED_ONE_IN === 0) {
        person.erasure = 'unanswered';
        const signups = [{ uuid }];
        if (!(await this.insist(turn, 'erase', 'DELETE', '/api/v1/signup', { waitlist_id, signups }, token))) continue;
        person.erasure = 'answered';
        this.goneTokens.add(referral_token);
        continue;
      }
      const spots = GRANTED_SPOTS[turn % GRANTED_SPOTS.length] as number;
      const [before] = person.states as [Corrected];
      const after = { firstName: `Turn ${turn}`, advanced: Math.max(0, before.advanced + spots) };
      person.states = [before, after];
      const body = { first_name: after.firstName, spots_to_advance: spots };
      // Without an answer, the traffic is over, so nobody treats this person again.
      if (await this.insist(turn, 'correct', 'PATCH', `/api/v1/signup/${uuid}`, body, token)) person.states = [after];
    }
  }

  /** Repeats a request under one key until it succeeds, or until the traffic is over. Returns whether it succeeded. */
  private async insist(turn: number, name: string, method: string, path: string, body: unknown, token: string) {
    // Not by name and turn: the account may have had traffic before.
    const key = randomUUID();
    for (let attempt = turn; !this.isOver; attempt += 1) {
      const answer = await this.ask(attempt, name, method, path, body, token, key);
      if (answer !== null && answer.status < 300) return true;
      await setTimeout(UNANSWERED_PAUSE_MS);
    }
    return false;
  }

  /** Two of three are referred. */
  private someReferrer(): string | null {
    if (this.people % 3 === 0 || this.tokens.length === 0) return null;
    return this.tokens[(this.people * 7919) % this.tokens.length] ?? null;
  }

  private async letIn(turn: number): Promise<void> {
    for (; !this.isOver; turn += 1) {
      const { apiKey, token } = this.place;
      const path = `/api/v1/waiter?api_key=${apiKey}&order=queue&limit=3`;
      const page = await this.ask(turn, 'list', 'GET', path, undefined, token);
      const waiters = page?.status === 200 ? (read(page) as Waiter[]).map(({ id }) => ({ id })) : [];
      if (waiters.length > 0) {
        const body = { api_key: apiKey, offboard_request: true, waiters };
        const answer = await this.ask(turn, 'offboard', 'PATCH', '/api/v1/waiter', body, token);
        for (const { uuid, removed_priority } of answer?.status === 200 ? (read(answer) as Waiter[]) : []) {
          if (this.offboarded.has(uuid)) this.contradictions.push(`${uuid} was offboarded twice`);
          this.offboarded.set(uuid, removed_priority as number);
        }
      }
      await setTimeout(OFFBOARDER_PAUSE_MS);
    }
  }

  private async reorder(): Promise<void> {
    for (let turn = 0; !this.isOver; turn += 1) {
      const { waitlistId, token } = this.place;
      const settings = { spots_to_move_upon_referral: SPOTS[turn % SPOTS.length] };
      await this.ask(turn, 'reorder', 'PATCH', `/api/v1/waitlist/${waitlistId}`, settings, token);
      await setTimeout(REORDER_PAUSE_MS);
    }
  }

  private async delete(): Promise<void> {
    const { token } = this.place;
    for (let turn = 0; !this.isOver; turn += 1) {
      await setTimeout(DELETION_PAUSE_MS);
      const made = await this.ask(turn, 'make', 'POST', '/api/v1/waitlist', SETTINGS, token);
      if (made?.status !== 201) continue;
      const { id } = read(made) as { id: number };
      for (let person = 0; person < SHORT_LIVED_PEOPLE; person += 1)
        await this.ask(turn, 'join', 'POST', '/api/v1/signup', { waitlist_id: id, email: `${person}@example.com` });
      const path = `/api/v1/waitlist/${id}`;
      const answer = await this.ask(turn, 'delete', 'DELETE', path, undefined, token);
      if (answer?.status === 204) this.deleted.push(id);
    }
  }

  private async spotsPerReferral(service: ServiceProcess): Promise<number> {
    const { waitlistId, token } = this.place;
    const waitlist = read(await service.call('GET', `/api/v1/waitlist/${waitlistId}`, undefined, { token }));
    return waitlist.spots_to_move_upon_referral as number;
  }

  /** Null without an answer. */
  private async ask(
    turn: number,
    name: string,
    method: string,
    path: string,
    body?: unknown,
    token?: string,
    key?: string,
  ) {
    const services = this.services();
    const service = services[turn % services.length] as ServiceProcess;
    const startMs = performance.now();
    const answer = await service.callIfAlive(method, path, body, { agent: this.agent, token, key });
    const outcome = `${name} ${answer?.status ?? 'unanswered'}`;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
    return answer;
  }
}

/** All active or all offboarded people. */
export async function listWaiters(
  service: ServiceProcess,
  place: TestWaitlist,
  isOffboarded: boolean,
): Promise<Waiter[]> {
  const { apiKey, token } = place;
  const waiters: Waiter[] = [];
  for (;;) {
    const after = waiters.length > 0 ? `&after_id=${waiters.at(-1)?.id}` : '';
    const path = `/api/v1/waiter?api_key=${apiKey}&offboarded_request=${isOffboarded}&limit=${PAGE_SIZE}${after}`;
    const page = read(await service.call('GET', path, undefined, { token })) as Waiter[];
    waiters.push(...page);
    if (page.length < PAGE_SIZE) return waiters;
  }
}

interface Facts {
  readonly seq: number;
  readonly advanced: number;
}

interface Tombstone {
  readonly uuid: string;
  /** The token of the person who referred the erased one. */
  readonly referrer: string | null;
}

/**
 * What no operation shows: the facts of the order, and the tombstones. A node that returns takes the connections back,
 * also this one.
 */
async function readFacts(databaseUrl: string, waitlistId: number) {
  const read = () =>
    withDataSource(databaseUrl, async (dataSource) => {
      const records: ({ readonly uuid: string } & Facts)[] = await dataSource.query(
        'SELECT uuid, seq, spots_advanced AS advanced FROM waiter WHERE waitlist_id = ?',
        [waitlistId],
      );
      const tombstones: Tombstone[] = await dataSource.query(
        'SELECT uuid, referred_by_token AS referrer FROM erased_waiter WHERE waitlist_id = ?',
        [waitlistId],
      );
      return { facts: new Map<string, Facts>(records.map((record) => [record.uuid, record])), tombstones };
    });
  return pRetry(read, { retries: 3 });
}

/** The active people in the specified order. */
function line(active: readonly Waiter[], facts: ReadonlyMap<string, Facts>, spots: number): Waiter[] {
  const earned = active.map((waiter) => ({
    waiter,
    referrals: waiter.amount_referred,
    ...(facts.get(waiter.uuid) as Facts),
  }));
  return inOrder(earned, spots).map(({ waiter }) => waiter);
}

/** The body of a success; throws for any other answer. */
export function read({ status, text, body }: Answer) {
  if (status >= 300) throw new Error(`Answered ${status}: ${text}`);
  return body;
}
