import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Database } from '../../src/platform/database/database.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import type { PersonChanges } from '../../src/queue/record/waiter.js';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import type { Answer, CallOptions } from '../support/api.js';
import { inOrder } from '../support/oracle.js';
import { commands, queueOf } from '../support/queue.js';
import { SEED } from '../support/seed.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

type Cells = readonly (string | number)[];

/** A CSV file of these rows, the header first. */
function csv(...rows: readonly Cells[]): string {
  return rows.map((cells) => cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(',') + '\n').join('');
}

describe('an import', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const pathOf = ({ id }: { readonly id: number }) => `/api/v1/waitlist/${id}/import`;

  async function send(waitlist: OwnedWaitlist, file: string | Buffer, options: CallOptions = {}): Promise<Answer> {
    return service.api.post(pathOf(waitlist), undefined, {
      token: waitlist.owner.token,
      raw: file,
      ...options,
      headers: { 'content-type': 'text/csv', ...options.headers },
    });
  }

  /** Imports a file of these rows; every counter and fact is then right. */
  async function importRows(waitlist: OwnedWaitlist, ...rows: readonly Cells[]): Promise<Answer['body']> {
    const { status, body, text } = await send(waitlist, csv(...rows));
    expect([status, text]).toEqual([200, expect.anything()]);
    await requireSound(waitlist);
    return body;
  }

  async function requireSound({ id }: OwnedWaitlist): Promise<void> {
    const { findings } = await queueOf(service.app).auditor.verify(id, () => undefined);
    expect(findings).toEqual([]);
  }

  async function latest(waitlist: OwnedWaitlist): Promise<Answer> {
    return service.api.get(pathOf(waitlist), { token: waitlist.owner.token });
  }

  /** The whole queue, active and offboarded records, in join order. */
  async function everybody(waitlist: OwnedWaitlist): Promise<WaiterDto[]> {
    const pages = [false, true].map((offboarded_request) =>
      service.world.list(waitlist, { offboarded_request, questions_request: true }),
    );
    return (await Promise.all(pages)).flat();
  }

  const byEmail = async (waitlist: OwnedWaitlist) =>
    new Map((await everybody(waitlist)).map((waiter) => [waiter.email, waiter]));

  /** The emails of the active records, the first of the queue first. */
  async function queue(waitlist: OwnedWaitlist): Promise<(string | null)[]> {
    const active = await service.world.list(waitlist);
    return active.toSorted((one, other) => one.priority - other.priority).map(({ email }) => email);
  }

  const erase = ({ id }: OwnedWaitlist, uuids: readonly string[]) =>
    queueOf(service.app).writer.submit(id, commands.erase(uuids, operatorWrite(1)));

  const correct = ({ id }: OwnedWaitlist, uuid: string, changes: PersonChanges) =>
    queueOf(service.app).writer.correct(id, uuid, changes, operatorWrite(1));

  const EMPTY_REPORT = {
    imported: 0,
    skipped: 0,
    rejected: 0,
    unresolved_referrals: 0,
    ignored_values: 0,
    columns: expect.any(Array),
    ignored_columns: [],
    errors: [],
  };

  describe('of the columns', () => {
    it('takes them in any order and case, and reports those that it ignores', async () => {
      const waitlist = await service.world.waitlist();

      const report = await importRows(
        waitlist,
        ['notes', ' Last_Name', 'EMAIL', 'position', 'phone', 'first_name'],
        ['x', 'Lovelace', 'Ada@Example.com', 7, '+14155550123', 'Ada'],
      );

      expect(report).toEqual({ ...EMPTY_REPORT, imported: 1, ignored_columns: ['notes', 'position'] });
      expect(await everybody(waitlist)).toMatchObject([
        {
          email: 'Ada@Example.com',
          registered_email: 'Ada@Example.com',
          phone: '+14155550123',
          first_name: 'Ada',
          last_name: 'Lovelace',
          verified: false,
          amount_referred: 0,
          status: 'waiting',
          priority: 0,
        },
      ]);
    });
  });

  describe('of a spreadsheet', () => {
    const FILE = [
      '\uFEFFE-Mail;First Name;Signup Date;Referral Code;Referred By;Notes;Name, as spoken',
      'ada@example.com;Ada;2026-03-02;ada_code;;"VIP; early";x',
      'bob@example.com;Bob;2026-03-01 09:30;;ada_code;;',
      'eve@example.com;Eve;3/1/2026;;Ada Lovelace;;',
      'nobody;Nobody;never;;;;',
    ].join('\r\n');
    const NONE_IGNORED = { ignored_values: 0, first_ignored: [] };
    const TIME_RULE = 'must be a time such as 2026-11-21, 2026-11-21 09:30 or 2026-11-21T09:30:00Z, from 1970 on';
    const columns = { Notes: 'metadata', 'Name, as spoken': null };
    const mapped = { query: { columns: JSON.stringify(columns) } };

    it('rejects a line whose value does not fit a column without aliases', async () => {
      const waitlist = await service.world.waitlist();

      const { body } = await send(waitlist, 'email,Removed Date\nada@example.com,24.12.2025');

      expect(body).toMatchObject({ imported: 0, rejected: 1, errors: [{ line: 2, field: 'removed_date' }] });
    });

    it('takes semicolons, other names and dates, and leaves out values that do not fit', async () => {
      const waitlist = await service.world.waitlist();

      const dry = await send(waitlist, FILE, { query: { dry_run: true } });
      const { body } = await send(waitlist, FILE);

      expect(body).toEqual({
        ...EMPTY_REPORT,
        imported: 3,
        rejected: 1,
        ignored_values: 2,
        columns: [
          { header: 'E-Mail', column: 'email', ...NONE_IGNORED },
          { header: 'First Name', column: 'first_name', ...NONE_IGNORED },
          {
            header: 'Signup Date',
            column: 'created_at',
            ignored_values: 1,
            first_ignored: [{ line: 4, field: 'created_at', message: TIME_RULE }],
          },
          { header: 'Referral Code', column: 'referral_token', ...NONE_IGNORED },
          {
            header: 'Referred By',
            column: 'referred_by',
            ignored_values: 1,
            first_ignored: [{ line: 4, field: 'referred_by', message: 'must have 6 to 32 of 0-9, A-Z, a-z, _ and -' }],
          },
          { header: 'Notes', column: null, ...NONE_IGNORED },
          { header: 'Name, as spoken', column: null, ...NONE_IGNORED },
        ],
        ignored_columns: ['Notes', 'Name, as spoken'],
        errors: [{ line: 5, field: 'email', message: 'must be an email address' }],
      });
      expect(dry.body).toEqual(body);
      expect((await latest(waitlist)).body).toEqual({ state: 'done', report: body });
      await requireSound(waitlist);
      const people = await byEmail(waitlist);
      expect(people.get('bob@example.com')).toMatchObject({
        first_name: 'Bob',
        created_at: '2026-03-01_09-30-00',
        referred_by_waiter_token: 'ada_code',
      });
      expect(people.get('eve@example.com')).toMatchObject({ first_name: 'Eve', referral_bool: false });
    });

    it('takes tabs too', async () => {
      const waitlist = await service.world.waitlist();

      const { body } = await send(waitlist, 'Mail\tName\n"a@example.com"\tA; B, C\n');

      expect(body).toMatchObject({ imported: 1 });
      expect(await everybody(waitlist)).toMatchObject([{ email: 'a@example.com', first_name: 'A; B, C' }]);
    });

    it('guesses no date and no referrer: it counts such values by column, and shows the first five', async () => {
      const dates = ['24.11.2026', '11/24/2026', '2026-11-24 09:30:15', '1.2.26', '45985', '24 Nov 2026', '02/30/2026'];
      const lines = dates.map((date, index) => `person-${index}@example.com,${date},person-0@example.com`);
      const waitlist = await service.world.waitlist();

      const { body } = await send(waitlist, ['Email,Signup Date,Referred By', ...lines].join('\n'));

      expect(body).toMatchObject({ imported: 7, rejected: 0, unresolved_referrals: 0, ignored_values: 13 });
      const message = 'must be a referral token, not an email address';
      const faults = (field: string, text: string, numbers: readonly number[]) =>
        numbers.map((line) => ({ line, field, message: text }));
      expect(body.columns).toEqual([
        { header: 'Email', column: 'email', ...NONE_IGNORED },
        {
          header: 'Signup Date',
          column: 'created_at',
          ignored_values: 6,
          first_ignored: faults('created_at', TIME_RULE, [2, 3, 5, 6, 7]),
        },
        {
          header: 'Referred By',
          column: 'referred_by',
          ignored_values: 7,
          first_ignored: faults('referred_by', message, [2, 3, 4, 5, 6]),
        },
      ]);
      const people = await byEmail(waitlist);
      expect(people.get('person-2@example.com')?.created_at).toBe('2026-11-24_09-30-15');
    });

    it('keeps columns in the metadata under their names if `columns` says so', async () => {
      const waitlist = await service.world.waitlist();

      const { body } = await send(waitlist, FILE, mapped);

      expect(body).toMatchObject({ imported: 3, ignored_columns: ['Name, as spoken'] });
      expect(body.columns[5]).toEqual({ header: 'Notes', column: 'metadata', ...NONE_IGNORED });
      const people = await byEmail(waitlist);
      expect(people.get('ada@example.com')?.metadata).toEqual({ Notes: 'VIP; early' });
      expect(people.get('bob@example.com')?.metadata).toBeNull();
    });

    it('rejects a line with a value that does not fit a column that `columns` names', async () => {
      const query = { columns: JSON.stringify({ 'Signup Date': 'created_at' }) };

      const { body } = await send(await service.world.waitlist(), FILE, { query });

      expect(body).toMatchObject({ imported: 2, rejected: 2 });
      expect(body.errors[0]).toMatchObject({ line: 4, field: 'created_at' });
    });

    it('is another import with other `columns`: nobody comes twice, and the same again repeats nothing', async () => {
      const waitlist = await service.world.waitlist();
      await send(waitlist, FILE);
      const [ada] = (await everybody(waitlist)).filter(({ email }) => email === 'ada@example.com');
      await correct(waitlist, ada!.uuid, { email: 'new@example.com' });

      // Their numbers say that the file's people are there, whatever they are called now.
      expect((await send(waitlist, FILE)).body).toMatchObject({ imported: 0, skipped: 3 });
      expect((await send(waitlist, FILE, mapped)).body).toMatchObject({ imported: 1, skipped: 2 });
      expect((await send(waitlist, FILE, mapped)).body).toMatchObject({ imported: 0, skipped: 3 });
      await requireSound(waitlist);
    });

    it.each([
      ['not JSON', '{', 'format'],
      ['no object', '[]', 'type'],
      ['__proto__', '{"__proto__": "email"}', 'format'],
      ['an unknown column', '{"Notes": "position"}', 'one_of'],
      ['two names for one column', '{"Notes": "phone", "Name": "phone"}', 'unique'],
      ['a name that the file lacks', '{"notes": null}', 'known'],
      ['a name that the file has twice', '{"x": "metadata"}', 'unique'],
      ['more than 8,192 characters', `{"${'x'.repeat(8_192)}": null}`, 'max_length'],
      [
        'more than 200 names',
        JSON.stringify(Object.fromEntries([...Array(201).keys()].map((n) => [n, null]))),
        'max_items',
      ],
    ])('is refused with `columns` that are %s', async (_, given, rule) => {
      const waitlist = await service.world.waitlist();

      const { status, body } = await send(waitlist, 'email,x,x,Notes\n', { query: { columns: given } });

      expect([status, body.errors]).toEqual([400, [expect.objectContaining({ field: 'columns', rule })]]);
      expect((await latest(waitlist)).status).toBe(404);
    });
  });

  it('orders by created_at, the file deciding ties, behind those who are there already', async () => {
    const waitlist = await service.world.waitlist();
    const { email } = await service.world.signup(waitlist);

    await importRows(
      waitlist,
      ['email', 'created_at'],
      ['c@example.com', '2024-01-02T00:00:00Z'],
      ['b@example.com', '2024-01-01_00-00-00'],
      ['d@example.com', '2024-01-02T01:00:00+01:00'],
      ['e@example.com', ''],
      ['a@example.com', '2023-12-31'],
    );

    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.com`);
    expect(await queue(waitlist)).toEqual([email, ...names]);
    expect((await byEmail(waitlist)).get('b@example.com')?.created_at).toBe('2024-01-01_00-00-00');
  });

  it('keeps the distances of join_order: a missing number stays missing, and the smallest joins right behind', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 1 });
    const first = await service.world.signup(waitlist);

    const report = await importRows(
      waitlist,
      ['email', 'join_order', 'created_at', 'referral_token'],
      ['c@example.com', 12, '2024-01-01', 'token-of-c'],
      ['a@example.com', 7, '2024-01-03', 'token-of-a'],
      ['twice@example.com', 7, '', ''],
      ['none@example.com', '', '', ''],
      ['b@example.com', 8, '2024-01-02', 'token-of-b'],
    );
    const last = await service.world.signup(waitlist, { referral_link: 'https://example.com/?ref_id=token-of-c' });

    expect(report).toEqual({
      ...EMPTY_REPORT,
      imported: 3,
      rejected: 2,
      errors: [
        { line: 4, field: 'join_order', message: 'must not be given twice' },
        { line: 5, field: 'join_order', message: 'is required in each line of a file that has it' },
      ],
    });
    // One spot does not cross the gap of three numbers between b and c.
    expect(await queue(waitlist)).toEqual([first.email, 'a@example.com', 'b@example.com', 'c@example.com', last.email]);
    expect((await byEmail(waitlist)).get('a@example.com')?.created_at).toBe('2024-01-03_00-00-00');
    await requireSound(waitlist);
  });

  describe('of referrals', () => {
    it('resolves them whatever the order of the lines, and moves the referrers', async () => {
      const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 2 });

      const report = await importRows(
        waitlist,
        ['email', 'created_at', 'referral_token', 'referred_by', 'spots_advanced'],
        ['a@example.com', '2024-01-01', 'aaaaaa', 'cccccc', 0],
        ['b@example.com', '2024-01-02', '', 'cccccc', 0],
        ['c@example.com', '2024-01-03', 'cccccc', '', 0],
        ['d@example.com', '2024-01-04', '', 'aaaaaa', 3],
      );

      expect(report).toEqual({ ...EMPTY_REPORT, imported: 4 });
      expect(await queue(waitlist)).toEqual(['c', 'a', 'd', 'b'].map((name) => `${name}@example.com`));
      expect((await byEmail(waitlist)).get('c@example.com')).toMatchObject({
        amount_referred: 2,
        referral_token: 'cccccc',
        referral_bool: false,
      });
      expect((await byEmail(waitlist)).get('a@example.com')).toMatchObject({
        amount_referred: 1,
        referral_bool: true,
        referred_by_waiter_token: 'cccccc',
      });
    });

    it('credits those who were there already', async () => {
      const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 1 });
      const [first, ada] = await service.world.signups(waitlist, 2);

      await importRows(waitlist, ['email', 'referred_by'], ['a@example.com', ada!.referral_token]);

      expect(await queue(waitlist)).toEqual([ada!.email, first.email, 'a@example.com']);
      expect((await byEmail(waitlist)).get(ada!.email)?.amount_referred).toBe(1);
    });

    it('gives a new token where one is taken, and those who name the old one are still its referrals', async () => {
      const waitlist = await service.world.waitlist();
      const other = await service.world.signup(waitlist);
      const taken = other.referral_token;

      const report = await importRows(
        waitlist,
        ['email', 'referral_token', 'referred_by'],
        ['before@example.com', '', taken],
        ['a@example.com', taken, ''],
        ['after@example.com', '', taken],
      );

      const people = await byEmail(waitlist);
      const token = people.get('a@example.com')?.referral_token;
      expect(report).toEqual({ ...EMPTY_REPORT, imported: 3 });
      expect(token).not.toBe(taken);
      expect(people.get('a@example.com')?.amount_referred).toBe(2);
      expect(people.get(other.email)?.amount_referred).toBe(0);
      for (const name of ['before', 'after'])
        expect(people.get(`${name}@example.com`)?.referred_by_waiter_token).toBe(token);
    });

    it('are as many as `amount_referred` if the file has fewer, whatever lines repeat a person', async () => {
      const waitlist = await service.world.waitlist();

      await importRows(
        waitlist,
        ['email', 'referral_token', 'referred_by', 'amount_referred'],
        ['ada@example.com', 'AAAAAAAAAAAA', '', 4],
        ['ADA@example.com', 'BBBBBBBBBBBB', '', 9],
        ['bob@example.com', '', 'AAAAAAAAAAAA', 0],
        ['bob@example.com', '', 'AAAAAAAAAAAA', 0],
        ['eve@example.com', '', 'BBBBBBBBBBBB', 0],
      );

      expect((await byEmail(waitlist)).get('ada@example.com')?.amount_referred).toBe(4);
    });

    it('gives a token that the file has twice to the first line', async () => {
      const waitlist = await service.world.waitlist();

      await importRows(
        waitlist,
        ['email', 'referral_token', 'referred_by'],
        ['a@example.com', 'same_token', ''],
        ['b@example.com', 'same_token', 'same_token'],
      );

      const people = await byEmail(waitlist);
      expect(people.get('a@example.com')).toMatchObject({ referral_token: 'same_token', amount_referred: 1 });
      expect(people.get('b@example.com')).toMatchObject({ amount_referred: 0, referral_bool: true });
    });

    it('counts those of a person whom the waitlist has already for that record', async () => {
      const waitlist = await service.world.waitlist();
      const ada = await service.world.signup(waitlist);

      const report = await importRows(
        waitlist,
        ['email', 'referral_token', 'referred_by'],
        ['before@example.com', '', 'theirs'],
        [ada.email.toUpperCase(), 'theirs', ''],
        ['after@example.com', '', 'theirs'],
      );

      const people = await byEmail(waitlist);
      expect(report).toEqual({ ...EMPTY_REPORT, imported: 2, skipped: 1 });
      expect(people.get(ada.email)).toMatchObject({ referral_token: ada.referral_token, amount_referred: 2 });
      expect(people.get('before@example.com')?.referred_by_waiter_token).toBe(ada.referral_token);
    });

    it('drops one of a person by that person', async () => {
      const waitlist = await service.world.waitlist();

      await importRows(waitlist, ['email', 'referral_token', 'referred_by'], ['a@example.com', 'aaaaaa', 'aaaaaa']);

      expect(await everybody(waitlist)).toMatchObject([{ amount_referred: 0, referral_bool: false }]);
    });

    it('keeps and reports an unknown referrer, which a later import can bring', async () => {
      const waitlist = await service.world.waitlist();

      const report = await importRows(
        waitlist,
        ['email', 'referred_by', 'credit'],
        ['a@example.com', 'unknown-token', 'credited'],
        ['b@example.com', 'unknown-token', 'none'],
      );
      const before = await byEmail(waitlist);
      const later = await importRows(waitlist, ['email', 'referral_token'], ['c@example.com', 'unknown-token']);

      expect(report).toEqual({ ...EMPTY_REPORT, imported: 2, unresolved_referrals: 2 });
      expect(before.get('a@example.com')).toMatchObject({
        referral_bool: true,
        referred_by_waiter_token: 'unknown-token',
      });
      expect(later).toEqual({ ...EMPTY_REPORT, imported: 1 });
      expect((await byEmail(waitlist)).get('c@example.com')?.amount_referred).toBe(2);
    });

    it('have their credit and its reasons from the file, and count only where it is credited', async () => {
      const waitlist = await service.world.waitlist();
      const referred = ['credited', '', 'none', 'awaiting_verification', 'withheld', 'refused'].map((credit, index) => [
        `${index}@example.com`,
        '',
        'ada_token',
        credit,
        credit === 'withheld' ? 'captcha, too_fast' : '',
      ]);

      await importRows(
        waitlist,
        ['email', 'referral_token', 'referred_by', 'credit', 'credit_reasons'],
        ['ada@example.com', 'ada_token', '', '', ''],
        ...referred,
      );

      const people = await byEmail(waitlist);
      expect(people.get('ada@example.com')?.amount_referred).toBe(3);
      expect(referred.map(([email]) => people.get(email!)?.credit)).toEqual([
        'credited',
        'credited',
        'credited',
        'awaiting_verification',
        'withheld',
        'refused',
      ]);
      expect(people.get('4@example.com')?.credit_reasons).toEqual(['too_fast', 'captcha']);
    });

    it('by somebody unknown have no credit, until a later import brings that person', async () => {
      const waitlist = await service.world.waitlist();
      await importRows(waitlist, ['email', 'referred_by', 'credit'], ['bob@example.com', 'ada_token', 'credited']);
      const before = (await byEmail(waitlist)).get('bob@example.com');

      await importRows(waitlist, ['email', 'referral_token'], ['ada@example.com', 'ada_token']);

      const people = await byEmail(waitlist);
      expect(before).toMatchObject({ credit: 'none', referral_bool: true });
      expect(people.get('bob@example.com')).toMatchObject({ credit: 'credited' });
      expect(people.get('ada@example.com')).toMatchObject({ amount_referred: 1 });
    });

    it('takes amount_referred for what the lines of the file do not add up to', async () => {
      const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 1 });

      await importRows(
        waitlist,
        ['email', 'referral_token', 'referred_by', 'amount_referred'],
        ['a@example.com', '', '', 0],
        ['b@example.com', '', '', 0],
        ['c@example.com', 'cccccc', '', 3],
        ['d@example.com', '', 'cccccc', 0],
        ['e@example.com', 'eeeeee', '', 0],
        ['f@example.com', '', 'eeeeee', 0],
      );

      const people = await byEmail(waitlist);
      expect(people.get('c@example.com')?.amount_referred).toBe(3);
      expect(people.get('e@example.com')?.amount_referred).toBe(1);
      expect((await queue(waitlist))[0]).toBe('c@example.com');
    });
  });

  it('gives the order that the facts of its lines earn', async () => {
    const person = fc.record({
      /** Of an earlier or a later line; beyond the last line, somebody who was there already, or nobody. */
      referrer: fc.nat({ max: 40 }),
      advanced: fc.oneof(fc.constant(0), fc.nat({ max: 20 })),
      isOffboarded: fc.boolean(),
    });
    const file = fc.record({
      people: fc.array(person, { minLength: 1, maxLength: 30 }),
      spots: fc.constantFrom(0, 1, 3),
    });
    await fc.assert(
      fc.asyncProperty(file, async ({ people, spots }) => {
        const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: spots });
        const before = await service.world.signups(waitlist, 2);
        const tokens = [...people.map((_, index) => `token-${index}`), ...before.map((there) => there.referral_token)];
        const rows = people.map(({ referrer, advanced, isOffboarded }, index) => [
          `${index}@example.com`,
          `token-${index}`,
          referrer === index ? '' : (tokens[referrer] ?? ''),
          advanced,
          isOffboarded ? '2024-01-01' : '',
          // The file is in another order than that of joining.
          index,
        ]);
        await importRows(
          waitlist,
          ['email', 'referral_token', 'referred_by', 'spots_advanced', 'removed_date', 'join_order'],
          ...rows.toReversed(),
        );

        const emails = [...before.map(({ email }) => email), ...rows.map(([email]) => email)];
        const earned = [...before, ...people].map((_, seq) => {
          const line = seq - before.length;
          const token = line < 0 ? before[seq]!.referral_token : `token-${line}`;
          const { advanced = 0, isOffboarded = false } = people[line] ?? {};
          return { seq, advanced, isOffboarded, referrals: rows.filter(([, , referrer]) => referrer === token).length };
        });
        const active = earned.filter(({ isOffboarded }) => !isOffboarded);
        expect(await queue(waitlist)).toEqual(inOrder(active, spots).map(({ seq }) => emails[seq]));
      }),
      { numRuns: 10, seed: SEED },
    );
  });

  describe('of people', () => {
    it('skips those whom the waitlist has by email or phone, and leaves their numbers missing', async () => {
      const waitlist = await service.world.waitlist();
      const ada = await service.world.signup(waitlist, { phone: '+14155550123', first_name: 'Ada' });

      const report = await importRows(
        waitlist,
        ['email', 'phone', 'first_name'],
        [` ${ada.email.toUpperCase()}`, '', 'Other'],
        ['new@example.com', '+1 (415) 555-0123', 'Other'],
        ['b@example.com', '', 'B'],
      );

      expect(report).toEqual({ ...EMPTY_REPORT, imported: 1, skipped: 2 });
      expect((await byEmail(waitlist)).get(ada.email)?.first_name).toBe('Ada');
      expect(await queue(waitlist)).toEqual([ada.email, 'b@example.com']);
    });

    it('lets the first of two lines of one person stand, whichever joined first', async () => {
      const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 0 });

      const report = await importRows(
        waitlist,
        ['email', 'phone', 'created_at', 'referral_token', 'referred_by'],
        ['a@example.com', '+14155550123', '2024-01-09', '', ''],
        ['b@example.com', '+14155550123', '2024-01-01', 'of-b-token', ''],
        ['A@example.com', '', '2024-01-02', '', ''],
        ['b@example.com', '', '2024-01-03', '', ''],
        ['c@example.com', '', '2024-01-04', '', 'of-b-token'],
      );

      const people = await byEmail(waitlist);
      expect(report).toEqual({ ...EMPTY_REPORT, imported: 3, skipped: 2 });
      expect(await queue(waitlist)).toEqual(['b@example.com', 'c@example.com', 'a@example.com']);
      expect(people.get('a@example.com')?.amount_referred).toBe(1);
    });

    it('binds neither to required contact data nor to required answers, but needs an email or a phone', async () => {
      const questions = [{ question_value: 'Why?', optional: false }];
      const waitlist = await service.world.waitlist({
        questions,
        required_contact: { email: 'required', phone: 'off', first_name: 'required' },
        is_closed: true,
      });

      const report = await importRows(
        waitlist,
        ['email', 'phone', 'first_name'],
        ['', '+14155550123', ''],
        [' ', '', 'Ada'],
      );

      expect(report).toEqual({
        ...EMPTY_REPORT,
        imported: 1,
        rejected: 1,
        errors: [{ line: 3, field: 'email', message: 'is required unless a phone is given' }],
      });
    });

    it('rejects a line without email and phone whatever the columns are called', async () => {
      const waitlist = await service.world.waitlist();

      const report = await importRows(waitlist, ['E-Mail', 'Mobile'], ['ada@example.com', ''], ['', ' ']);

      expect(report).toMatchObject({ imported: 1, rejected: 1, errors: [{ line: 3, field: 'email' }] });
      expect(await queue(waitlist)).toEqual(['ada@example.com']);
    });

    it('reads phones in the region of the waitlist', async () => {
      const waitlist = await service.world.waitlist({ default_region: 'US' });

      await importRows(waitlist, ['phone'], ['(415) 555-0123']);

      const found = await service.api.get('/api/v1/signup', {
        query: { waitlist_id: waitlist.id, phone: '+14155550123' },
      });
      expect(found.status).toBe(200);
    });

    it('takes the facts of a record as they are', async () => {
      const waitlist = await service.world.waitlist();
      const uuid = randomUUID();

      await importRows(
        waitlist,
        ['email', 'registered_email', 'verified', 'metadata', 'uuid', 'removed_date', 'removed_priority', 'created_at'],
        [
          'a@example.com',
          'old@example.com',
          'true',
          '{"plan":"team"}',
          uuid.toUpperCase(),
          '2024-02-03_04-05-06',
          41,
          '2024-01-01',
        ],
        ['b@example.com', '', 'false', '', '', '2024-02-03T00:00:00Z', '', '2024-01-02'],
        ['c@example.com', 'c@example.com', '', '', '', '', '', '2024-01-03'],
      );

      const people = await byEmail(waitlist);
      expect(people.get('a@example.com')).toMatchObject({
        registered_email: 'old@example.com',
        verified: true,
        metadata: { plan: 'team' },
        uuid,
        removed_date: '2024-02-03_04-05-06',
        removed_priority: 41,
        priority: 41,
        status: 'offboarded',
      });
      expect(people.get('b@example.com')).toMatchObject({
        registered_email: null,
        verified: false,
        removed_priority: 0,
        status: 'offboarded',
      });
      expect(people.get('c@example.com')).toMatchObject({ priority: 0, status: 'waiting' });
    });

    it('gives a new uuid where a record of any waitlist has it', async () => {
      const waitlist = await service.world.waitlist();
      const { uuid } = await service.world.signup(await service.world.waitlist());
      const twice = randomUUID();

      await importRows(
        waitlist,
        ['email', 'uuid'],
        ['a@example.com', uuid],
        ['b@example.com', twice],
        ['c@example.com', twice],
      );

      const people = await byEmail(waitlist);
      expect(people.get('a@example.com')?.uuid).not.toBe(uuid);
      expect(people.get('b@example.com')?.uuid).toBe(twice);
      expect(people.get('c@example.com')?.uuid).not.toBe(twice);
    });

    it('skips the line of somebody who was erased, known by the token', async () => {
      const waitlist = await service.world.waitlist();
      const ada = await service.world.signup(waitlist);
      await erase(waitlist, [ada.uuid]);

      const report = await importRows(
        waitlist,
        ['email', 'referral_token', 'referred_by'],
        [ada.email, ada.referral_token, ''],
        ['b@example.com', '', ada.referral_token],
      );

      expect(report).toMatchObject({ imported: 1, skipped: 1 });
      expect(await queue(waitlist)).toEqual(['b@example.com']);
    });
  });

  describe('of questions', () => {
    const HEADER = ['email', 'question_1', 'answer_1', 'question_2', 'answer_2'];

    it('matches their texts, and adds an unknown one as an optional free text while there are fewer than three', async () => {
      const waitlist = await service.world.waitlist({
        questions: [
          { question_value: 'Which?', optional: false, answer_value: ['a', 'b'] },
          { question_value: 'Why?' },
        ],
      });

      const report = await importRows(
        waitlist,
        HEADER,
        ['a@example.com', 'How?', 'Well', 'Which?', '["b","a"]'],
        ['b@example.com', 'Who?', 'Me', 'How?', 'Badly'],
        ['c@example.com', 'Why?', '', 'How?', 'So'],
      );

      const people = await byEmail(waitlist);
      const message = 'must not answer "Who?": the waitlist has 3 other questions';
      expect(report).toEqual({
        ...EMPTY_REPORT,
        imported: 2,
        rejected: 1,
        errors: [{ line: 3, field: 'answers', message }],
      });
      expect(people.get('a@example.com')).toMatchObject({
        question_1: 'Which?',
        answer_1: 'b, a',
        answer_2: '',
        question_3: 'How?',
        answer_3: 'Well',
      });
      const settings = await service.api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
      expect(settings.body.questions).toMatchObject([
        { question_value: 'Which?' },
        { question_value: 'Why?' },
        { question_value: 'How?', optional: true, answer_value: null },
      ]);
    });

    it('are not added beyond the size that questions may have', async () => {
      const answer_value = Array.from({ length: 100 }, (_, number) => String(number).padEnd(155, 'x'));
      const waitlist = await service.world.waitlist({ questions: [{ question_value: 'Which?', answer_value }] });

      const report = await importRows(
        waitlist,
        ['email', 'question_1', 'answer_1'],
        ['a@example.com', 'y'.repeat(500), 'So'],
      );

      expect(report).toMatchObject({ imported: 0, rejected: 1, errors: [{ line: 2, field: 'answers' }] });
      expect(report.errors[0].message).toContain('must have at most 16384 bytes');
    });

    it('takes answers as JSON in place of the pairs, removed questions as removed', async () => {
      const waitlist = await service.world.waitlist({ questions: [{ question_value: 'Why?' }] });
      const answers = [
        { id: 99, question_value: 'Why?', optional: true, answer_value: 'Because', soft_deleted: false },
        { id: 1, question_value: 'Old?', optional: false, answer_value: ['x'], soft_deleted: true },
      ];

      await importRows(
        waitlist,
        ['email', 'answers', 'question_1', 'answer_1'],
        ['a@example.com', JSON.stringify(answers), 'Ignored?', 'yes'],
        ['b@example.com', JSON.stringify(answers), '', ''],
      );

      const expected = [
        expect.objectContaining({ question_value: 'Why?', answer_value: 'Because', soft_deleted: false }),
        expect.objectContaining({ question_value: 'Old?', answer_value: ['x'], soft_deleted: true }),
      ];
      for (const waiter of await everybody(waitlist)) expect(waiter.answers).toEqual(expected);
    });
  });

  describe('of lines with a fault', () => {
    it('rejects each, naming line and column, and imports the others', async () => {
      const waitlist = await service.world.waitlist();
      const good = csv(['a@example.com', '', '']);
      const file = Buffer.concat([
        Buffer.from('\uFEFFemail,first_name,referred_by\r\n'),
        Buffer.from(good),
        Buffer.from('short@example.com\n\n'),
        Buffer.from('latin@example.com,Andr\xe9,\n', 'latin1'),
        Buffer.from('"b@example.com","André",""\n'),
        Buffer.from('nobody,x,not a token\n'),
      ]);

      const { body } = await send(waitlist, file);

      expect(body).toEqual({
        ...EMPTY_REPORT,
        imported: 2,
        rejected: 3,
        errors: [
          { line: 3, field: 'line', message: 'must have 3 cells, as the header has, not 1' },
          { line: 5, field: 'first_name', message: 'must be UTF-8, not Latin-1: save the file as "CSV UTF-8"' },
          { line: 7, field: 'email', message: 'must be an email address' },
          { line: 7, field: 'referred_by', message: 'must have 6 to 32 of 0-9, A-Z, a-z, _ and -' },
        ],
      });
      expect((await byEmail(waitlist)).get('b@example.com')?.first_name).toBe('André');
    });

    it('reads a cell that an export has marked as no formula without its mark', async () => {
      const waitlist = await service.world.waitlist();

      await importRows(waitlist, ['phone', 'first_name', 'last_name'], ["'+14155550123", "''=Ada", "'Lovelace"]);

      expect(await everybody(waitlist)).toMatchObject([
        { phone: '+14155550123', first_name: "'=Ada", last_name: "'Lovelace" },
      ]);
    });

    it.each([
      ['nested 20,000 deep', '['.repeat(20_000) + ']'.repeat(20_000), 'must have at most 64 levels'],
      ['a list of 30,000 lists', `[${'[],'.repeat(30_000)}[]]`, 'must hold at most 20000 values'],
    ])('rejects one whose JSON is %s, and imports the others', async (_, json, message) => {
      const waitlist = await service.world.waitlist();

      for (const column of ['metadata', 'answers']) {
        const report = await importRows(
          waitlist,
          ['email', column],
          [`a@${column}.example`, ''],
          ['b@example.com', json],
        );

        expect(report).toMatchObject({ imported: 1, rejected: 1, errors: [{ line: 3, field: column, message }] });
      }
    });

    it('reports the first 1,000 faults', async () => {
      const waitlist = await service.world.waitlist();

      const { body } = await send(waitlist, `email\n${'no address\n'.repeat(1_001)}`);

      expect([body.rejected, body.errors.length]).toEqual([1_001, 1_000]);
    });
  });

  describe('of a file that is no CSV of people', () => {
    it.each([
      ['UTF-16', Buffer.from('\uFEFFEmail\tFirst Name\r\n', 'utf16le')],
      ['UTF-16', Buffer.from('"email"\n', 'utf16le').swap16()],
      ['Latin-1 (Windows-1252)', Buffer.from('email;Pr\xe9nom\n', 'latin1')],
      ['a binary file', Buffer.from('PK\u0003\u0004\u0000\u0000\n')],
    ])('is refused by the name of its encoding: %s', async (name, file) => {
      const { body } = await send(await service.world.waitlist(), file);

      const message = `must be CSV in UTF-8, not ${name}: save it as "CSV UTF-8"`;
      expect([body.error_code, body.errors]).toEqual(['INVALID_CSV', [{ field: 'body', rule: 'format', message }]]);
    });

    it('is refused with what was understood if neither email nor phone is a column', async () => {
      const names = ['Nom;Adresse', ...Array.from({ length: 10 }, (_, index) => String(index))];
      const { body } = await send(await service.world.waitlist(), `${names.join(';')}\n`);

      const message =
        'must be a column of the file unless phone is one; the first line, read with semicolons, names "Nom", "Adresse", "0", "1", "2", "3", "4", "5", "6", "7" and 2 more';
      expect(body.errors).toEqual([{ field: 'email', rule: 'required', message }]);
    });

    it.each<[string, string | Buffer, string]>([
      ['is empty', '', 'body: format'],
      ['has neither an email nor a phone column', 'first_name\nAda\n', 'email: required'],
      ['names a column twice', 'email,first_name, email\n', 'email: unique'],
      ['has a header without an end', `email,${'x '.repeat(35_000)}`, 'body: max_bytes'],
      ['has more than 200 columns', `email${',x'.repeat(200)}\n`, 'body: max_items'],
      [
        'has a line of more cells than four headers may have',
        `email\na@example.com${','.repeat(800)}\n`,
        'body: max_items',
      ],
      ['has a quote that never ends', 'email\na@example.com\n"b@example.com\n', 'body: format'],
    ])('is refused if it %s, and nothing is imported', async (_, file, fault) => {
      const waitlist = await service.world.waitlist();

      const { status, body } = await send(waitlist, file);

      expect([status, body.error_code]).toEqual([400, 'INVALID_CSV']);
      const [first] = body.errors as { field: string; rule: string }[];
      expect(`${first?.field}: ${first?.rule}`).toBe(fault);
      expect(await everybody(waitlist)).toEqual([]);
    });

    it('is refused if it is not sent as plain CSV', async () => {
      const waitlist = await service.world.waitlist();

      const refused: Record<string, string>[] = [
        { 'content-type': 'application/json' },
        { 'content-type': 'text/csv; charset=latin1' },
        { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
      ];
      for (const headers of refused)
        expect((await send(waitlist, 'email\n', { headers })).body.error_code).toBe('UNSUPPORTED_MEDIA_TYPE');
    });

    it('is refused on every other operation', async () => {
      const { status } = await service.api.post('/api/v1/signup', undefined, {
        raw: 'email\n',
        headers: { 'content-type': 'text/csv' },
      });

      expect(status).toBe(415);
    });
  });

  it('reports what it would do with dry_run, and changes nothing', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 0 });
    const ada = await service.world.signup(waitlist);
    const file = csv(
      ['email', 'referral_token', 'referred_by', 'question_1', 'answer_1'],
      ['a@example.com', '', 'bbbbbb', 'Why?', 'So'],
      ['b@example.com', 'bbbbbb', ada.referral_token, '', ''],
      ['c@example.com', '', 'unknown', '', ''],
      ['no address', '', '', '', ''],
      [ada.email, '', '', '', ''],
    );

    const dry = await send(waitlist, file, { query: { dry_run: true } });
    const before = [await everybody(waitlist), (await latest(waitlist)).status];
    const real = await send(waitlist, file);

    expect(dry.body).toMatchObject({ imported: 3, skipped: 1, rejected: 1, unresolved_referrals: 1 });
    expect(before).toEqual([[expect.objectContaining({ amount_referred: 0 })], 404]);
    expect(real.body).toEqual(dry.body);
    expect(await queue(waitlist)).toEqual([ada.email, 'a@example.com', 'b@example.com', 'c@example.com']);
  });

  it('imports nothing the second time, also if people have changed meanwhile', async () => {
    const waitlist = await service.world.waitlist();
    const rows: Cells[] = [
      ['email', 'referral_token', 'referred_by'],
      ['a@example.com', 'aaaaaa', ''],
      ['b@example.com', '', 'aaaaaa'],
      ['c@example.com', '', ''],
    ];
    await importRows(waitlist, ...rows);
    const people = await byEmail(waitlist);
    await erase(waitlist, [people.get('c@example.com')!.uuid]);
    await correct(waitlist, people.get('b@example.com')!.uuid, { email: 'new@example.com' });
    const before = await everybody(waitlist);

    const report = await importRows(waitlist, ...rows);

    expect(report).toEqual({ ...EMPTY_REPORT, skipped: 3 });
    expect(await everybody(waitlist)).toEqual(before);
  });

  it('shows the state and the report of the latest one, and 404 before the first', async () => {
    const waitlist = await service.world.waitlist();
    const none = await latest(waitlist);
    const report = await importRows(waitlist, ['email'], ['a@example.com'], [' ']);
    await send(waitlist, 'email\n"');

    expect([none.status, none.body.error_code]).toEqual([404, 'NO_IMPORT_FOUND']);
    expect((await latest(waitlist)).body).toEqual({ state: 'failed', report: null });
    await importRows(waitlist, ['email'], ['a@example.com'], [' ']);
    expect((await latest(waitlist)).body).toEqual({ state: 'done', report: { ...report, imported: 0, skipped: 1 } });
  });

  it('shows the report of an earlier version, which has no columns', async () => {
    const waitlist = await service.world.waitlist();
    await importRows(waitlist, ['email'], ['a@example.com']);
    const report = {
      imported: 1,
      skipped: 0,
      rejected: 0,
      unresolved_referrals: 0,
      ignored_columns: ['x'],
      errors: [],
    };
    const { dataSource } = service.app.get(Database);
    await dataSource.query('UPDATE import_run SET report = ? WHERE waitlist_id = ?', [
      JSON.stringify(report),
      waitlist.id,
    ]);

    const { body } = await latest(waitlist);

    expect(body).toEqual({ state: 'done', report: { ...report, ignored_values: 0, columns: [] } });
  });

  it('leaves an event in the audit log without names', async () => {
    const waitlist = await service.world.waitlist();

    await importRows(waitlist, ['email'], ['a@example.com']);

    const { body } = await service.api.get('/api/v1/audit', {
      token: waitlist.owner.token,
      query: { waitlist_id: waitlist.id },
    });
    expect(body[0]).toMatchObject({ action: 'waiters_imported', uuids: [] });
  });

  it('writes a line of progress, then the report, with Accept: application/x-ndjson', async () => {
    const waitlist = await service.world.waitlist();
    const headers = { accept: 'application/x-ndjson' };

    const good = await send(waitlist, csv(['email'], ['a@example.com']), { headers });
    const bad = await send(waitlist, 'email\n"a', { headers });

    expect([good.status, good.headers['content-type']]).toEqual([200, expect.stringMatching(/^application\/x-ndjson/)]);
    expect(lines(good)).toEqual([
      { phase: expect.any(String), done: expect.any(Number), total: null },
      { ...EMPTY_REPORT, imported: 1 },
    ]);
    expect(lines(bad).at(-1)).toMatchObject({ status: 400, error_code: 'INVALID_CSV' });
    // Before the header is accepted, a problem is the answer itself.
    expect((await send(waitlist, 'name\n', { headers })).status).toBe(400);
  });
});

/** The lines of an answer. */
function lines({ text }: Answer): object[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
}
