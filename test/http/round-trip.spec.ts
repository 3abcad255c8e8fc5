import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { Database } from '../../src/platform/database/database.js';
import type { OfferedWaiterDto } from '../../src/waiter/offer.dto.js';
import { startCli } from '../support/program.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import type { OwnedWaitlist, Owner } from '../support/world.js';

type Line = Record<string, string>;

/** So many that an import takes several transactions. */
const CROWD = 1_800;
const SUSPICIOUS = 5;
const SETTINGS = { spots_to_move_upon_referral: 2 };
const ODD = ['=1+1', "'=1", "'", '@a "b", c;', '+', '-', '👋🏽 é', "''-", '＝1', "'＠"];

describe('a waitlist that is exported and imported', () => {
  let service: Service;
  let owner: Owner;
  let source: OwnedWaitlist;
  let file: string;
  beforeAll(async () => {
    service = await startService();
    owner = await service.world.owner();
    source = await service.world.waitlist({ ...SETTINGS, questions: questions('Why?', 'How?', 'When?') }, owner);
    await live(source);
    file = await exported(service, source);
  });
  afterAll(() => service.stop());

  function questions(...texts: string[]) {
    const options = ['A friend', 'Other, "=1"'];
    return texts.map((question_value, index) => ({
      question_value,
      optional: index > 0,
      answer_value: index === 1 ? options : null,
    }));
  }

  /** Everything that can happen to a list. */
  async function live(waitlist: OwnedWaitlist): Promise<void> {
    const { world, api } = service;
    const { token } = owner;
    const change = (uuid: string, body: object) => api.patch(`/api/v1/signup/${uuid}`, body, { token });
    const replaceQuestions = async (body: object[]) => {
      const path = `/api/v1/waitlist/${waitlist.id}`;
      return (await api.patch(path, { questions: body }, { token })).body.questions as { id: number }[];
    };
    const answers = (why: string, how: unknown, last = 'When?') => [
      { question_value: 'Why?', answer_value: why },
      { question_value: 'How?', answer_value: how },
      { question_value: last, answer_value: `\n${why}-1\r\n2,"3"` },
    ];
    const erased = await world.signup(waitlist, { answers: answers('a', null) });
    const people: Named[] = [];
    for (const [index, odd] of ODD.entries()) {
      const referrer: Named = people[Math.floor(index / 2)] ?? erased;
      people.push(
        await world.signup(waitlist, {
          first_name: odd,
          last_name: index % 2 === 0 ? `${odd}x` : null,
          phone: `+1415555${1000 + index}`,
          metadata: index % 3 === 0 ? null : { odd, nested: [{ '=': odd }] },
          answers: answers(odd, index % 2 === 0 ? ['A friend', 'Other, "=1"'] : 'A friend'),
          referral_link: referrer.referral_link,
        }),
      );
    }
    // Each credit that a referral can have, and reasons.
    for (const [index, credit] of (['credited', 'refused', null, null] as const).entries()) {
      const email = `suspicious-${index}@mailinator.com`;
      const suspicious = { email, referral_link: people[6]!.referral_link, answers: answers('s', 'A friend') };
      const { uuid } = await world.signup(waitlist, suspicious);
      if (credit !== null) await change(uuid, { credit });
    }
    const refused = await world.signup(waitlist, {
      referral_link: people[7]!.referral_link,
      answers: answers('r', null),
    });
    await change(refused.uuid, { credit: 'refused' });
    const [ada, bob, cy, dan, eve, fay] = people as [Named, Named, Named, Named, Named, Named];
    const [why, how] = await replaceQuestions([]).then(() => replaceQuestions(questions('Why?', 'How?', 'Where?')));
    await world.signup(waitlist, { answers: answers('again', 'A friend', 'Where?'), referral_link: ada.referral_link });
    await replaceQuestions([
      { ...questions('Reason?')[0], id: why?.id },
      { ...how, question_value: 'Means?', answer_value: null },
    ]);
    await change(bob.uuid, { spots_to_advance: 5 });
    await change(fay.uuid, { spots_to_advance: 2_000 });
    await change(cy.uuid, { email: `new-${cy.email}`, phone: null, verified: true, metadata: {}, first_name: null });
    await world.offboard(waitlist, [await world.idOf(waitlist, dan), await world.idOf(waitlist, ada)]);
    const body = { waitlist_id: waitlist.id, signups: [{ uuid: erased.uuid }, { uuid: eve.uuid }] };
    expect((await api.call('DELETE', '/api/v1/signup', body, { token })).status).toBe(204);
    const crowd = Array.from({ length: CROWD }, (_, index) => [
      `crowd-${index}@example.com`,
      index % 3 === 0 ? `crowd-token-${index + 1 - (index % 7)}` : index === 1 ? 'nobody-knows' : '',
      index % 5 === 0 ? 'awaiting_verification' : index % 7 === 0 ? 'withheld' : '',
      index % 7 === 0 ? 'too_fast, same_mailbox' : '',
      `crowd-token-${index}`,
      new Date(1_700_000_000_000 + (index % 100)).toISOString(),
    ]);
    await imported(
      service,
      waitlist,
      stringify([['email', 'referred_by', 'credit', 'credit_reasons', 'referral_token', 'created_at'], ...crowd]),
    );
  }
  type Named = Awaited<ReturnType<Service['world']['signup']>>;

  async function exported({ api }: Service, waitlist: OwnedWaitlist): Promise<string> {
    const { status, text } = await api.get(`/api/v1/waitlist/${waitlist.id}/export`, { token: waitlist.owner.token });
    expect(status).toBe(200);
    return text;
  }

  async function imported({ app, api }: Service, waitlist: OwnedWaitlist, raw: string): Promise<void> {
    const headers = { 'content-type': 'text/csv' };
    const answer = await api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, {
      token: waitlist.owner.token,
      raw,
      headers,
    });
    expect(answer.body).toMatchObject({ rejected: 0, errors: [] });
    const { findings } = await queueOf(app).auditor.verify(waitlist.id, () => undefined);
    expect(findings).toEqual([]);
  }

  /**
   * The lines of a file without ids: those of questions, and those of records, which no two records of a service share.
   */
  function withoutIds(text: string, columns: readonly string[] = ['uuid']): Line[] {
    return parse<Line>(text, { columns: true }).map((line) => ({
      ...Object.fromEntries(Object.entries(line).filter(([column]) => !columns.includes(column))),
      answers: (line.answers ?? '').replaceAll(/"id":\d+,/g, ''),
    }));
  }

  it('shows all of it', () => {
    const lines = parse<Line>(file, { columns: true });
    const having = (column: string, value: RegExp) => lines.filter((line) => value.test(line[column] ?? '')).length;

    expect(lines).toHaveLength(ODD.length + 1 - 1 + SUSPICIOUS + CROWD);
    expect(having('removed_date', /./)).toBe(2);
    expect(having('spots_advanced', /^(5|2000)$/)).toBe(2);
    expect(having('referred_by', /^nobody-knows$/)).toBe(1);
    expect(having('answers', /"soft_deleted":true/)).toBe(ODD.length + SUSPICIOUS);
    expect(having('credit', /^credited$/)).toBeGreaterThan(CROWD / 6);
    for (const credit of ['awaiting_verification', 'withheld', 'refused'])
      expect(having('credit', new RegExp(`^${credit}$`))).toBeGreaterThan(1);
    expect(having('credit_reasons', /^disposable_domain$/)).toBe(4);
    expect(having('credit_reasons', /^same_mailbox,too_fast$/)).toBeGreaterThan(CROWD / 10);
  });

  it('has the same export again, but for ids', async () => {
    const copy = await service.world.waitlist(SETTINGS, owner);

    await imported(service, copy, file);

    expect(withoutIds(await exported(service, copy))).toEqual(withoutIds(file));
  });

  it('leaves offers behind: whoever has one waits, at the place that the facts give', async () => {
    const list = await service.world.waitlist(SETTINGS, owner);
    const people = await service.world.signups(list, 5);
    await service.world.signup(list, { referral_link: people[4]!.referral_link });
    const { token } = owner;
    const signups = [people[4]!, people[0], people[1]!].map(({ uuid }) => ({ uuid }));
    const offered = (await service.api.post(`/api/v1/waitlist/${list.id}/offer`, { signups }, { token }))
      .body as OfferedWaiterDto[];
    const code = offered[1]!.offer_url!.split('/').at(-1);
    expect((await service.api.post('/api/v1/offer/accept', { code }, { token })).status).toBe(200);
    await service.world.offboard(list, [await service.world.idOf(list, people[2]!)]);

    const text = await exported(service, list);

    const lines = parse<Line>(text, { columns: true });
    const shown = lines.map((line) => [line.email, line.position, line.removed_priority, line.removed_reason]);
    expect(shown.slice(0, 3)).toEqual([
      [people[1]!.email, '0', '', ''],
      [people[4]!.email, '0', '', ''],
      [people[3]!.email, '0', '', ''],
    ]);
    expect(shown.slice(4)).toEqual([
      [people[0].email, '', '0', 'accepted'],
      [people[2]!.email, '', '0', 'by_owner'],
    ]);
    expect(lines.map((line) => line.joined_priority)).toEqual(['1', '4', '3', '5', '0', '2']);
    const copy = await service.world.waitlist(SETTINGS, owner);
    await imported(service, copy, text);
    expect(withoutIds(await exported(service, copy), ['uuid', 'position'])).toEqual(
      withoutIds(text, ['uuid', 'position']),
    );
    expect(await service.world.list(copy, { status: 'offered' })).toEqual([]);
    expect((await service.world.list(copy)).map(({ email }) => email).sort()).toEqual(
      [people[1]!, people[3]!, people[4]!]
        .map(({ email }) => email)
        .concat(lines[3]!.email!)
        .sort(),
    );
  });

  it('has the same export after an import that was killed half-way and run again', async () => {
    const copy = await service.world.waitlist(SETTINGS, owner);
    const folder = await mkdtemp(join(tmpdir(), 'waitlist-round-trip-'));
    const path = join(folder, 'people.csv');
    await writeFile(path, file);
    const environment = { DATABASE_URL: service.databaseUrl };
    const importing = startCli(['waitlist', 'import', String(copy.id), path], { folder, environment });
    const sql = async (text: string) =>
      service.app.get(Database).read((manager) => manager.query<{ n: number }[]>(text));
    const isBegun = async () =>
      (await sql(`SELECT COUNT(*) AS n FROM waiter WHERE waitlist_id = ${copy.id}`))[0]!.n > 0;
    await until(isBegun);
    importing.signal('SIGKILL');
    await importing.ended;
    // Its process gives no sign of life for a minute.
    await sql(`UPDATE import_run SET heartbeat_at = '2020-01-01 00:00:00.000' WHERE waitlist_id = ${copy.id}`);

    await imported(service, copy, file);

    expect(withoutIds(await exported(service, copy))).toEqual(withoutIds(file));
    await rm(folder, { recursive: true });
  });

  it('has the same export in another service, with the ids of its records', async () => {
    const other = await startService({ isolated: true });
    const copy = await other.world.waitlist(SETTINGS);

    await imported(other, copy, file);

    expect(withoutIds(await exported(other, copy), [])).toEqual(withoutIds(file, []));
    await other.stop();
  });
});
