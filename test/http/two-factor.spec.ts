import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LoginAuditService } from '../../src/auth/login-audit.service.js';
import { MemberMailEntity } from '../../src/outbox/member-mail.entity.js';
import { MemberMailStore } from '../../src/outbox/member-mail.store.js';
import { AuditLog } from '../../src/platform/audit/audit-log.js';
import { Database } from '../../src/platform/database/database.js';
import { allOf } from '../../src/platform/reach.js';
import { SealedColumns } from '../../src/platform/secrets/sealed-columns.js';
import { MailDispatcher } from '../../src/mail/mail.dispatcher.js';
import type { Answer } from '../support/api.js';
import { Authenticator } from '../support/authenticator.js';
import { openDatabase } from '../support/database.js';
import { MailServer } from '../support/mail-server.js';
import { type Service, startService, startServices } from '../support/service.js';
import { type LoggedIn, PASSWORD } from '../support/world.js';

const CREATE = '/api/v1/auth/create_tokens';
const SESSION = '/api/v1/auth/session';
const REFRESH = '/api/v1/auth/refresh_access_token';
const TWO_FACTOR = '/api/v1/auth/two_factor';
const ME = '/api/v1/member/me';
const WRONG_PASSWORD = 'not the password at all';
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const FAILURES_MAX = 10;
/** Steps of codes in a minute. */
const MINUTE = 2;

interface RecoveryCodes {
  readonly recovery_codes: readonly [string, ...string[]];
}

const refusal = ({ status, body }: Answer) => [status, (body as { error_code?: string } | undefined)?.error_code];
const logIn = ({ api }: Service, email: string, otp?: string, from?: string, password = PASSWORD) =>
  api.post(CREATE, { email, password, otp }, { ...(from !== undefined && { from }) });
const begin = ({ api }: Service, { token }: { token: string }, current_password = PASSWORD) =>
  api.post(TWO_FACTOR, { current_password }, { token });
const confirm = ({ api }: Service, { token }: { token: string }, otp: string) =>
  api.post(`${TWO_FACTOR}/confirm`, { otp }, { token });
const replaceCodes = ({ api }: Service, { token }: { token: string }, otp: string, from = '127.0.0.1') =>
  api.post(`${TWO_FACTOR}/recovery_codes`, { otp }, { token, from });
const disable = (
  { api }: Service,
  { token }: { token: string },
  otp: string,
  { current_password = PASSWORD, from = '127.0.0.1' } = {},
) => api.post(`${TWO_FACTOR}/disable`, { current_password, otp }, { token, from });
const hasFactor = async ({ api }: Service, { token }: { token: string }) =>
  ((await api.get(ME, { token })).body as { two_factor: boolean }).two_factor;

/** Gives a member a second factor, with the code of the step before the first. */
async function setUp(service: Service, member: LoggedIn) {
  const app = new Authenticator(((await begin(service, member)).body as { secret: string }).secret);
  const confirmed = await app.at(0, () => confirm(service, member, app.code(-1)));
  expect(confirmed.status).toBe(200);
  return { app, recoveryCodes: (confirmed.body as RecoveryCodes).recovery_codes };
}

/** An owner with a second factor. */
async function withFactor(service: Service) {
  const owner = await service.world.owner();
  return { ...owner, ...(await setUp(service, owner)) };
}

async function eventsOf({ app }: Service, { accountId }: LoggedIn) {
  await app.get(LoginAuditService).writeAll();
  return (await app.get(AuditLog).list(allOf(accountId), { limit: 100 })).events;
}

describe('a second factor', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: { PUBLIC_BASE_URL: 'https://waitlist.example' } });
  });
  afterAll(() => service.stop());

  it('holds once it is confirmed: other logins end, and a login needs a code from then on', async () => {
    const owner = await service.world.owner();
    const other = (await logIn(service, owner.email)).body as { access_token: string; refresh_token: string };
    const { secret, otpauth_url } = (await begin(service, owner)).body as Record<'secret' | 'otpauth_url', string>;
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(otpauth_url);
    expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual([
      'otpauth:',
      'totp',
      `/waitlist.example:${owner.email}`,
    ]);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ secret, issuer: 'waitlist.example' });
    const app = new Authenticator(secret);
    expect((await app.at(0, () => logIn(service, owner.email))).status).toBe(200);
    expect(await hasFactor(service, owner)).toBe(false);

    const { status, body } = await app.at(0, () => confirm(service, owner, app.code(0)));

    expect([status, new Set((body as RecoveryCodes).recovery_codes).size]).toEqual([200, 10]);
    expect((await service.api.get(ME, { token: other.access_token })).status).toBe(401);
    expect((await service.api.get(REFRESH, { token: other.refresh_token })).status).toBe(401);
    expect(await hasFactor(service, owner)).toBe(true);
    expect((await service.api.get(REFRESH, { token: owner.refreshToken })).status).toBe(200);
    await app.at(1, async () => {
      expect(refusal(await logIn(service, owner.email))).toEqual([401, 'OTP_REQUIRED']);
      const login = { email: owner.email, password: PASSWORD };
      expect(refusal(await service.api.post(SESSION, login))).toEqual([401, 'OTP_REQUIRED']);
      expect((await logIn(service, owner.email, app.code(1))).status).toBe(200);
      expect((await service.api.post(SESSION, { ...login, otp: app.code(2) })).status).toBe(200);
    });
    const [event] = await eventsOf(service, owner);
    expect(event).toMatchObject({ action: 'two_factor_set_up', memberId: owner.id, uuids: [owner.id] });
  });

  it('is kept without its secret and recovery codes in clear, and not beyond its member', async () => {
    const owner = await service.world.owner();
    const member = await service.world.member(owner, 'viewer');
    const { app, recoveryCodes } = await setUp(service, member);
    const rows = async () =>
      JSON.stringify(
        await service.app.get(DataSource).query('SELECT * FROM two_factor WHERE member_id = ?', [member.id]),
      );

    const stored = await rows();
    expect(stored).toContain(member.id);
    for (const secret of [app.secret, recoveryCodes[0], recoveryCodes[0].replaceAll('-', '')])
      expect(stored.toLowerCase()).not.toContain(secret.toLowerCase());
    await service.api.delete(`/api/v1/member/${member.id}`, { token: owner.token });
    expect(await rows()).toBe('[]');
  });

  it('is that of the newest secret until it is confirmed; the password is judged first', async () => {
    const owner = await service.world.owner();
    const first = new Authenticator(((await begin(service, owner)).body as { secret: string }).secret);
    const { app } = await setUp(service, owner);

    expect(app.secret).not.toBe(first.secret);
    expect(refusal(await begin(service, owner, WRONG_PASSWORD))).toEqual([403, 'WRONG_PASSWORD']);
    expect(refusal(await begin(service, owner))).toEqual([409, 'TWO_FACTOR_ON']);
    await app.at(0, async () => {
      expect(refusal(await confirm(service, owner, app.code(0)))).toEqual([409, 'TWO_FACTOR_ON']);
      expect(refusal(await logIn(service, owner.email, first.code(0)))).toEqual([401, 'WRONG_CREDENTIALS']);
      expect((await logIn(service, owner.email, app.code(0))).status).toBe(200);
    });
  });

  it('is not confirmed by a wrong code', async () => {
    const owner = await service.world.owner();
    const app = new Authenticator(((await begin(service, owner)).body as { secret: string }).secret);

    const answer = await confirm(service, owner, app.wrongCode);

    expect(refusal(answer)).toEqual([403, 'WRONG_OTP']);
    expect(answer.body.errors).toEqual([expect.objectContaining({ field: 'otp', rule: 'match' })]);
    expect((await logIn(service, owner.email)).status).toBe(200);
  });

  it('takes codes of the step before and the step after, and of no other', async () => {
    const { app, ...member } = await withFactor(service);
    const outcomes: unknown[] = [];

    await app.at(4, async () => {
      for (const step of [2, 6, 3, 5]) outcomes.push((await logIn(service, member.email, app.code(step))).status);
    });

    expect(outcomes).toEqual([401, 401, 200, 200]);
  });

  it('takes no code of a step that was used, or of one before: also not that of the confirmation', async () => {
    const { app, ...member } = await withFactor(service);
    const statusAt = (at: number, step: number) =>
      app.at(at, async () => (await logIn(service, member.email, app.code(step))).status);

    // The confirmation used that of step -1.
    expect(await statusAt(0, -1)).toBe(401);
    expect(await statusAt(0, 1)).toBe(200);
    expect(await statusAt(1, 1)).toBe(401);
    expect(await statusAt(1, 0)).toBe(401);
    // The clock was put back.
    expect(await statusAt(-2, -2)).toBe(401);
    expect(await statusAt(2, 2)).toBe(200);
  });

  it('is replaced once by each recovery code, in any spelling, until there are new ones', async () => {
    const { app, recoveryCodes, ...member } = await withFactor(service);
    const [first, second, third] = recoveryCodes as [string, string, string];
    const spellings = [first, first, second.replaceAll('-', '').toUpperCase()];

    const statuses = [];
    for (const otp of spellings) statuses.push((await logIn(service, member.email, otp)).status);
    const renewed = await app.at(0, () => replaceCodes(service, member, app.code(0)));

    expect(statuses).toEqual([200, 401, 200]);
    const { recovery_codes: codes } = renewed.body as RecoveryCodes;
    expect([renewed.status, new Set(codes).size]).toEqual([200, 10]);
    expect((await logIn(service, member.email, third)).status).toBe(401);
    expect((await logIn(service, member.email, codes[0])).status).toBe(200);
  });

  it('tells a stranger nothing: a wrong password is answered as anywhere, with a code and without one', async () => {
    const { app, ...member } = await withFactor(service);
    const plain = await service.world.owner();

    const answers = [
      await logIn(service, plain.email, undefined, undefined, WRONG_PASSWORD),
      await logIn(service, plain.email, '123456', undefined, WRONG_PASSWORD),
      await logIn(service, member.email, undefined, undefined, WRONG_PASSWORD),
      await app.at(0, () => logIn(service, member.email, app.code(0), undefined, WRONG_PASSWORD)),
      await logIn(service, member.email, app.wrongCode),
    ];

    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect(body).toEqual({ ...answers[0]!.body, instance: body.instance });
    }
    // Not even a right code of it counts then.
    expect((await app.at(0, () => logIn(service, member.email, app.code(0)))).status).toBe(200);
  });

  it('is ignored where there is none', async () => {
    const { email } = await service.world.owner();

    expect((await logIn(service, email, '123456')).status).toBe(200);
  });

  it('is disabled with the password and a code, in this order', async () => {
    const { app, ...member } = await withFactor(service);
    await app.at(0, async () => {
      const wrong = await disable(service, member, app.code(0), { current_password: WRONG_PASSWORD });
      expect(refusal(wrong)).toEqual([403, 'WRONG_PASSWORD']);
      expect(refusal(await disable(service, member, app.wrongCode))).toEqual([403, 'WRONG_OTP']);

      expect((await disable(service, member, app.code(0))).status).toBe(204);

      expect((await logIn(service, member.email)).status).toBe(200);
      const off = await disable(service, member, app.code(1), { current_password: WRONG_PASSWORD });
      expect(refusal(off)).toEqual([403, 'WRONG_PASSWORD']);
      for (const answer of [
        await disable(service, member, app.code(1)),
        await replaceCodes(service, member, app.code(1)),
        await confirm(service, member, app.code(1)),
      ])
        expect(refusal(answer)).toEqual([409, 'TWO_FACTOR_OFF']);
    });
    expect(await hasFactor(service, member)).toBe(false);
    const removed = (await eventsOf(service, member)).find(({ action }) => action === 'two_factor_removed');
    expect(removed).toMatchObject({ memberId: member.id, uuids: [member.id] });
    await setUp(service, member);
  });

  it.each([
    ['no password', '', {}, 'current_password'],
    ['no code', '/disable', { current_password: PASSWORD }, 'otp'],
    ['a code that is no text', '/confirm', { otp: 123_456 }, 'otp'],
    ['an empty code', '/recovery_codes', { otp: '' }, 'otp'],
    ['a code that is too long', '/recovery_codes', { otp: '1'.repeat(65) }, 'otp'],
  ])('is not changed with %s', async (_, path, body, field) => {
    const { token } = await service.world.owner();

    const answer = await service.api.post(`${TWO_FACTOR}${path}`, body, { token });

    expect([answer.status, answer.body.errors[0].field]).toEqual([400, field]);
  });

  it('outlives a password that the operator sets', async () => {
    const { app, ...member } = await withFactor(service);

    await service.world.setPassword(member.email, PASSWORD);

    expect(refusal(await logIn(service, member.email))).toEqual([401, 'OTP_REQUIRED']);
    expect((await app.at(0, () => logIn(service, member.email, app.code(0)))).status).toBe(200);
  });

  it('is reset by another owner for who has lost it, which ends the logins', async () => {
    const owner = await service.world.owner();
    const member = await service.world.member(owner, 'owner');
    await setUp(service, member);
    const reset = (id: string, { token }: LoggedIn) => service.api.delete(`/api/v1/member/${id}/two_factor`, { token });
    expect(refusal(await reset(member.id, member))).toEqual([409, 'OWN_TWO_FACTOR']);
    expect(refusal(await reset(UNKNOWN, owner))).toEqual([404, 'MEMBER_NOT_FOUND']);

    expect((await reset(member.id, owner)).status).toBe(204);

    expect((await service.api.get(ME, { token: member.token })).status).toBe(401);
    const { access_token: token } = (await logIn(service, member.email)).body as { access_token: string };
    expect(await hasFactor(service, { token })).toBe(false);
    // Nothing is left to reset.
    expect((await reset(member.id, owner)).status).toBe(204);
    expect((await service.api.get(ME, { token })).status).toBe(200);
    const resets = (await eventsOf(service, owner)).filter(({ action }) => action === 'two_factor_removed');
    expect(resets).toEqual([expect.objectContaining({ memberId: owner.id, uuids: [member.id] })]);
  });
});

describe('a second factor that the account requires', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('keeps members without one from all but setting one up, from the next request on; keys go on', async () => {
    const { api, world } = service;
    const waitlist = await world.waitlist();
    const { owner } = waitlist;
    const editor = await world.member(owner, 'editor');
    const { key } = (await api.post('/api/v1/api_key', { name: 'Site', scope: 'read' }, { token: owner.token })).body;
    await setUp(service, owner);
    const view = `/api/v1/waitlist/${waitlist.id}`;
    const read = ({ token }: LoggedIn, path = '/api/v1/waitlist') => api.get(path, { token });
    expect((await read(editor)).status).toBe(200);

    await api.patch('/api/v1/account', { require_two_factor: true }, { token: owner.token });

    expect((await read(owner)).status).toBe(200);
    for (const path of ['/api/v1/waitlist', view, '/api/v1/member'])
      expect(refusal(await read(editor, path))).toEqual([403, 'TWO_FACTOR_REQUIRED']);
    expect((await read(editor, '/api/v1/account')).body).toMatchObject({ require_two_factor: true });
    expect((await api.patch(ME, { name: 'Ada' }, { token: editor.token })).status).toBe(200);
    expect((await read(editor, SESSION)).status).toBe(200);
    expect((await api.get(view)).status).toBe(200);
    expect((await api.get('/api/v1/waitlist', { headers: { 'api-key': key } })).status).toBe(200);
    const { access_token } = (await logIn(service, editor.email)).body as { access_token: string };
    expect(refusal(await api.get('/api/v1/waitlist', { token: access_token }))).toEqual([403, 'TWO_FACTOR_REQUIRED']);

    await setUp(service, editor);

    expect((await read(editor)).status).toBe(200);
    expect(refusal(await read(editor, '/api/v1/member'))).toEqual([403, 'INSUFFICIENT_ROLE']);
  });

  it('keeps out the owner too who requires it without having one, until it is set up', async () => {
    const owner = await service.world.owner();
    const change = (require_two_factor: boolean) =>
      service.api.patch('/api/v1/account', { require_two_factor }, { token: owner.token });

    expect((await change(true)).status).toBe(200);
    expect(refusal(await change(false))).toEqual([403, 'TWO_FACTOR_REQUIRED']);

    await setUp(service, owner);
    expect((await change(false)).body).toMatchObject({ require_two_factor: false });
  });
});

describe('a code that is sent twice at once, to two replicas (one on the embedded database)', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  beforeAll(async () => {
    running = await startServices();
  });
  afterAll(() => running.stop());

  it.each(['a code', 'a recovery code'])('lets one in: %s', async (kind) => {
    const [first] = running.services;
    const last = running.services.at(-1)!;
    for (let round = 0; round < 5; round += 1) {
      const owner = await first.world.owner();
      const { app, recoveryCodes } = await setUp(first, owner);
      const otp = kind === 'a code' ? app.code(0) : recoveryCodes[0];

      const answers = await app.at(0, () =>
        Promise.all([first, last].map((service) => logIn(service, owner.email, otp))),
      );

      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    }
  });
});

describe('wrong codes', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: { RATE_LIMIT_LOGIN: '1000' } });
  });
  afterAll(() => service.stop());

  it('count as failed logins at an address, and are audited as such', async () => {
    const { app, ...owner } = await withFactor(service);
    const from = '192.0.2.1';

    await app.at(0, async () => {
      for (const answer of [
        await logIn(service, owner.email, app.wrongCode, from),
        await logIn(service, owner.email, app.wrongCode, from),
        await replaceCodes(service, owner, app.wrongCode, from),
        await disable(service, owner, app.wrongCode, { from }),
        await disable(service, owner, app.code(0), { current_password: WRONG_PASSWORD, from }),
      ])
        expect([401, 403]).toContain(answer.status);

      expect(refusal(await logIn(service, owner.email, app.code(0), from))).toEqual([429, 'TOO_MANY_ATTEMPTS']);
      expect((await logIn(service, owner.email, app.code(0), '192.0.2.2')).status).toBe(200);
    });
    const failed = (await eventsOf(service, owner)).filter(({ action }) => action === 'login_failed');
    expect(failed).toHaveLength(5);
    expect(failed[0]).toMatchObject({ memberId: owner.id });
  });

  it('still count after logins without a code, which themselves are no failures', async () => {
    const { email } = await withFactor(service);
    const from = '192.0.2.3';
    const attempts = [
      ...Array<string>(4).fill('nothing'),
      ...Array<undefined>(6).fill(undefined),
      'nothing',
      'nothing',
    ];

    const outcomes = [];
    for (const otp of attempts) outcomes.push((await logIn(service, email, otp, from)).status);

    expect(outcomes).toEqual([...Array<number>(11).fill(401), 429]);
  });
});

describe('ten wrong codes in a row', () => {
  let service: Service;
  let mail: MailServer;
  beforeAll(async () => {
    mail = await MailServer.start();
    // Limits by address are off.
    service = await startService({
      environment: { SMTP_URL: mail.url, MAIL_FROM: 'a@example.com', PUBLIC_BASE_URL: 'https://waitlist.example' },
    });
    service.startTasks();
  });
  afterAll(async () => {
    await service.stop();
    await mail.stop();
  });

  const address = (index: number) => `198.51.100.${index}`;
  async function fail(email: string, app: Authenticator, count = FAILURES_MAX): Promise<number[]> {
    const statuses = [];
    for (let index = 0; index < count; index += 1)
      statuses.push((await logIn(service, email, app.wrongCode, address(index))).status);
    return statuses;
  }

  it('from any addresses, at logins and within, end in a wait of 15 minutes, of which a mail tells', async () => {
    const { app, recoveryCodes, ...owner } = await withFactor(service);
    const { email } = owner;

    await app.at(0, async () => {
      expect(await fail(email, app, 6)).toEqual(Array(6).fill(401));
      for (let index = 0; index < 2; index += 1) {
        expect((await replaceCodes(service, owner, app.wrongCode)).status).toBe(403);
        expect((await disable(service, owner, app.wrongCode)).status).toBe(403);
      }

      for (const answer of [
        await logIn(service, email, app.code(0)),
        await logIn(service, email, recoveryCodes[0]),
        await replaceCodes(service, owner, app.code(0)),
        await disable(service, owner, app.code(0)),
      ]) {
        expect(refusal(answer)).toEqual([429, 'TOO_MANY_ATTEMPTS']);
        expect(answer.headers['retry-after']).toBe(String(15 * 60));
      }
      expect(refusal(await logIn(service, email, app.code(0), undefined, WRONG_PASSWORD))).toEqual([
        401,
        'WRONG_CREDENTIALS',
      ]);
      service.app.get(MailDispatcher).wake();
      const [{ subject, text }] = await mail.mailsTo(email);
      expect(subject).toBe('Wrong codes for your login at Waitlist Service');
      expect(text).toContain('change your password');
    });
    const events = (await eventsOf(service, owner)).map(({ action }) => action);
    expect(events).toContain('login_throttled');
    const after = 15 * MINUTE;
    expect((await app.at(after, () => logIn(service, email, app.code(after)))).status).toBe(200);
  });

  it('are ten however many are sent at once', async () => {
    const { email } = await withFactor(service);

    const rush = Array.from({ length: 30 }, (_, index) => logIn(service, email, 'nothing', address(index)));
    const statuses = (await Promise.all(rush)).map(({ status }) => status).sort();

    expect(statuses).toEqual([...Array<number>(FAILURES_MAX).fill(401), ...Array<number>(20).fill(429)]);
  });

  it('are no row with a right one between them', async () => {
    const { email, app } = await withFactor(service);

    await app.at(0, async () => {
      expect(await fail(email, app, FAILURES_MAX - 1)).not.toContain(429);
      expect((await logIn(service, email, app.code(0))).status).toBe(200);
      expect(await fail(email, app, FAILURES_MAX - 1)).not.toContain(429);
      expect((await logIn(service, email, app.code(1))).status).toBe(200);
    });
  });

  it('are told five times an hour to one mailbox, whose members may be many', async () => {
    const { app, ...owner } = await withFactor(service);
    const { email, accountId } = owner;
    const mailbox = { accountId, emailKey: email.replace('@', '+another@') };
    const told = Array.from({ length: 5 }, () =>
      service.app
        .get(MemberMailStore)
        .insert('two_factor_locked', { ...mailbox, id: randomUUID() }, 'https://waitlist.example', new Date()),
    );
    await service.app.get(Database).pipelinedTransaction((transaction) => transaction.commit(told));

    await app.at(0, () => fail(email, app));

    const mails = service.app.get(DataSource).getRepository(MemberMailEntity);
    expect(await mails.countBy({ memberId: owner.id })).toBe(0);
    expect(refusal(await app.at(0, () => logIn(service, email, app.code(0))))).toEqual([429, 'TOO_MANY_ATTEMPTS']);
  });

  it('mean twice the wait each time, up to a day, until a right code', async () => {
    const { email, app } = await withFactor(service);
    /** Minutes, after ten more wrong codes. */
    const waitAt = (step: number) =>
      app.at(step, async () => {
        expect(await fail(email, app)).not.toContain(429);
        const { status, headers } = await logIn(service, email, app.code(step));
        return status === 429 ? Number(headers['retry-after']) / 60 : 0;
      });
    const waits = [15, 30, 60, 120, 240, 480, 960, 1440, 1440];

    let step = 0;
    for (const wait of waits) {
      expect(await waitAt(step)).toBe(wait);
      step += wait * MINUTE;
    }
    expect((await app.at(step, () => logIn(service, email, app.code(step)))).status).toBe(200);

    expect(await waitAt(step + 1)).toBe(15);
  });
});

describe('the secret of a second factor', () => {
  const [OLD, NEW] = ['old-secret-0123456789-abcdefghijklmn', 'new-secret-0123456789-abcdefghijklmn'];

  it('outlives a change of JWT_SECRET; where its own is not listed, recovery codes still count', async () => {
    const database = await openDatabase(true);
    const start = (secrets: string) =>
      startService({ environment: { DATABASE_URL: database.url, JWT_SECRET: secrets } });
    const before = await start(OLD);
    const owner = await before.world.owner();
    const { app, recoveryCodes } = await setUp(before, owner);
    await before.stop();

    const without = await start(NEW);
    const refused = await app.at(0, () => logIn(without, owner.email, app.code(0)));
    expect(refusal(refused)).toEqual([503, 'SECRET_UNAVAILABLE']);
    expect(refused.headers['retry-after']).toBeDefined();
    expect((await logIn(without, owner.email, recoveryCodes[0])).status).toBe(200);
    expect(await without.app.get(SealedColumns).reseal()).toBe(1);
    await without.stop();

    const between = await start(`${NEW},${OLD}`);
    expect(await between.app.get(SealedColumns).reseal()).toBe(0);
    await between.stop();

    const after = await start(NEW);
    expect((await app.at(0, () => logIn(after, owner.email, app.code(0)))).status).toBe(200);
    await after.stop();
    await database.drop();
  });
});
