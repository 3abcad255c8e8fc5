import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountService } from '../../src/account/account.service.js';
import { MemberEntity } from '../../src/account/member.entity.js';
import { MemberLinkEntity } from '../../src/account/member-link.entity.js';
import type { AuditEventDto } from '../../src/auth/audit.dto.js';
import { ForgottenPasswordService } from '../../src/auth/forgotten-password.service.js';
import type { InvitedMemberDto, MemberDto } from '../../src/auth/member.dto.js';
import { MailDispatcher } from '../../src/mail/mail.dispatcher.js';
import { MemberMailEntity } from '../../src/outbox/member-mail.entity.js';
import { MemberMailStore } from '../../src/outbox/member-mail.store.js';
import { Database } from '../../src/platform/database/database.js';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { MailServer } from '../support/mail-server.js';
import { type Service, startService, startServices } from '../support/service.js';
import { until } from '../support/service-process.js';
import { type LoggedIn, type Owner, PASSWORD } from '../support/world.js';

const PATH = '/api/v1/member';
const AUTH = '/api/v1/auth';
const BASE = 'https://lists.example/team';
const OTHER_PASSWORD = 'plmw jhx rowkd vnqzt';
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const refusal = ({ status, body }: Answer) => [status, (body as { error_code?: string } | undefined)?.error_code];
const tokenOf = (url: string) => url.split('#')[1]!;
const someEmail = () => `${randomUUID()}@members.example`;

/** What the tests of one service do. */
function callsTo(of: () => Service) {
  const post = (path: string, body?: object, token?: string, headers?: Record<string, string>) =>
    of().api.post(path, body, { ...(token !== undefined && { token }), ...(headers && { headers }) });
  return {
    post,
    invite: (by: LoggedIn, fields: object = {}, headers?: Record<string, string>) =>
      post(PATH, { email: someEmail(), role: 'editor', ...fields }, by.token, headers),
    inviteAgain: (by: LoggedIn, id: string) => post(`${PATH}/${id}/invitation`, undefined, by.token),
    startReset: (by: LoggedIn, id: string, headers?: Record<string, string>) =>
      post(`${PATH}/${id}/password_reset`, undefined, by.token, headers),
    view: (token: string) => post(`${AUTH}/invitation`, { token }),
    accept: (token: string, fields: object = {}) =>
      post(`${AUTH}/invitation/accept`, { token, password: PASSWORD, ...fields }),
    reset: (token: string, new_password = OTHER_PASSWORD) => post(`${AUTH}/password/reset`, { token, new_password }),
    logIn: (email: string, password = PASSWORD) => post(`${AUTH}/create_tokens`, { email, password }),
    change: (by: LoggedIn, id: string, body: object) => of().api.patch(`${PATH}/${id}`, body, { token: by.token }),
    isLive: async (token: string) => (await of().api.get(`${PATH}/me`, { token })).status === 200,
    eventsOf: async ({ token }: LoggedIn) =>
      ((await of().api.get('/api/v1/audit', { token })).body as AuditEventDto[])
        .map(({ action, member, uuids }) => [action, member, ...uuids])
        .reverse(),
  };
}

describe('a service without mail', () => {
  let service: Service;
  const { post, invite, inviteAgain, startReset, view, accept, reset, logIn, change, isLive, eventsOf } = callsTo(
    () => service,
  );
  beforeAll(async () => {
    service = await startService({ environment: { PUBLIC_BASE_URL: BASE } });
  });
  afterAll(() => service.stop());

  const invited = async (by: LoggedIn, fields: object = {}) => {
    const answer = await invite(by, fields);
    const { id, email, invitation_url } = answer.body as InvitedMemberDto;
    return { id, email, token: tokenOf(invitation_url) };
  };
  const resetOf = async (by: LoggedIn, id: string) => tokenOf((await startReset(by, id)).body.reset_url as string);

  describe('an invitation', () => {
    it('gives its link to the owner, once, and tells its bearer what it is for', async () => {
      const owner = await service.world.owner();
      await service.api.patch('/api/v1/account', { name: 'Lumen' }, { token: owner.token });
      const email = `Ada.${randomUUID()}@Members.example`;

      const answer = await invite(owner, { email, role: 'viewer', name: ' Ada ' });

      const { invitation_url, mailed, ...member } = answer.body as InvitedMemberDto;
      expect([answer.status, mailed]).toEqual([201, false]);
      expect(invitation_url).toMatch(/^https:\/\/lists\.example\/team\/desk\/invitation#[\w-]{43}$/);
      const { body } = await service.api.get(PATH, { token: owner.token });
      expect((body as MemberDto[]).find(({ id }) => id === member.id)).toEqual(member);
      expect(member).toMatchObject({ email, role: 'viewer', name: 'Ada', status: 'invited', sign_in: [] });
      expect((await view(tokenOf(invitation_url))).body).toEqual({
        email,
        role: 'viewer',
        account_name: 'Lumen',
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      expect(refusal(await logIn(email))).toEqual([401, 'WRONG_CREDENTIALS']);
    });

    it('makes its bearer a member with their own password and name, once', async () => {
      const owner = await service.world.owner();
      const { id, email, token } = await invited(owner, { role: 'viewer', name: 'Ada' });

      const accepted = await accept(token, { name: ' Grace ' });

      expect([accepted.status, accepted.text]).toEqual([204, '']);
      const { access_token } = (await logIn(email)).body as { access_token: string };
      expect((await service.api.get(`${PATH}/me`, { token: access_token })).body).toMatchObject({
        id,
        name: 'Grace',
        role: 'viewer',
        status: 'active',
        sign_in: ['password'],
      });
      expect(refusal(await accept(token, { password: OTHER_PASSWORD }))).toEqual([404, 'LINK_NOT_FOUND']);
      expect(refusal(await view(token))).toEqual([404, 'LINK_NOT_FOUND']);
      expect(await eventsOf(owner)).toEqual([
        ['account_created', null],
        ['member_invited', owner.id, id],
        ['member_joined', id, id],
      ]);
    });

    it('keeps the name that it came with unless its bearer gives or removes one', async () => {
      const owner = await service.world.owner();
      const [kept, removed] = [await invited(owner, { name: 'Ada' }), await invited(owner, { name: 'Ada' })];

      await accept(kept.token);
      await accept(removed.token, { name: null });

      const { body } = await service.api.get(PATH, { token: owner.token });
      const nameOf = ({ id }: { id: string }) => (body as MemberDto[]).find((member) => member.id === id)!.name;
      expect([nameOf(kept), nameOf(removed)]).toEqual(['Ada', null]);
    });

    it('is not spent by a password that is refused', async () => {
      const owner = await service.world.owner();
      const { email, token } = await invited(owner);

      for (const [password, rule] of [
        ['short', 'min_length'],
        ['passwordpassword', 'strength'],
        [`${email} `, 'strength'],
      ]) {
        const answer = await accept(token, { password });
        expect([...refusal(answer), answer.body.errors[0].field, answer.body.errors[0].rule]).toEqual([
          400,
          'INVALID_REQUEST',
          'password',
          rule,
        ]);
      }

      expect((await accept(token)).status).toBe(204);
    });

    it('ends when there is a newer one, which only an invited member gets', async () => {
      const owner = await service.world.owner();
      const { id, email, token } = await invited(owner);

      const again = await inviteAgain(owner, id);

      expect([again.status, again.body]).toMatchObject([200, { id, email, status: 'invited', mailed: false }]);
      expect(refusal(await view(token))).toEqual([404, 'LINK_NOT_FOUND']);
      expect(refusal(await accept(token))).toEqual([404, 'LINK_NOT_FOUND']);
      expect((await accept(tokenOf(again.body.invitation_url as string))).status).toBe(204);
      expect(refusal(await inviteAgain(owner, id))).toEqual([409, 'MEMBER_ACTIVE']);
    });

    it('ends when the member is disabled, for good, and when it is removed', async () => {
      const owner = await service.world.owner();
      const [disabled, removed] = [await invited(owner), await invited(owner)];

      await change(owner, disabled.id, { is_active: false });
      await service.api.delete(`${PATH}/${removed.id}`, { token: owner.token });

      expect(refusal(await inviteAgain(owner, disabled.id))).toEqual([409, 'MEMBER_ACTIVE']);
      expect((await change(owner, disabled.id, { is_active: true })).body).toMatchObject({ status: 'invited' });
      for (const { token } of [disabled, removed])
        expect(refusal(await accept(token))).toEqual([404, 'LINK_NOT_FOUND']);
      const { body } = await inviteAgain(owner, disabled.id);
      expect((await accept(tokenOf(body.invitation_url as string))).status).toBe(204);
      expect((await invite(owner, { email: removed.email })).status).toBe(201);
    });

    it('holds for seven days', async () => {
      const owner = await service.world.owner();
      const { token } = await invited(owner);

      await ahead(7 * DAY_MS - 60_000, async () => expect((await view(token)).status).toBe(200));
      await ahead(7 * DAY_MS + 1_000, async () =>
        expect(refusal(await accept(token))).toEqual([404, 'LINK_NOT_FOUND']),
      );
    });

    it('goes to no email that a member of any account has, in whatever spelling', async () => {
      const [owner, other] = [await service.world.owner(), await service.world.owner()];
      const { email } = await invited(owner);

      for (const taken of [email, email.toUpperCase(), owner.email])
        expect(refusal(await invite(other, { email: taken }))).toEqual([409, 'EMAIL_TAKEN']);
    });

    it.each([
      ['email', { email: 'nobody' }, 'format'],
      ['email', { email: undefined }, 'required'],
      ['role', { role: 'admin' }, 'one_of'],
      ['role', { role: undefined }, 'required'],
      ['name', { name: 'x'.repeat(101) }, 'max_length'],
      ['password', { password: PASSWORD }, 'known'],
    ])('is not made with a bad %s', async (field, fields, rule) => {
      const { status, body } = await invite(await service.world.owner(), fields);

      expect([status, body.errors[0].field, body.errors[0].rule]).toEqual([400, field, rule]);
    });

    it('of another account is not found', async () => {
      const [owner, other] = [await service.world.owner(), await service.world.owner()];
      const { id } = await invited(owner);

      for (const unknown of [id, UNKNOWN]) {
        expect(refusal(await inviteAgain(other, unknown))).toEqual([404, 'MEMBER_NOT_FOUND']);
        expect(refusal(await startReset(other, unknown))).toEqual([404, 'MEMBER_NOT_FOUND']);
      }
    });

    it('is given again with the same Idempotency-Key, to the owner who got it alone', async () => {
      const owner = await service.world.owner();
      const second = await service.world.member(owner, 'owner');
      const [fields, headers] = [{ email: someEmail() }, { 'idempotency-key': randomUUID() }];

      const first = await invite(owner, fields, headers);
      const repeated = await invite(owner, fields, headers);

      expect(repeated.headers['idempotent-replayed']).toBe('true');
      expect([repeated.status, repeated.body]).toEqual([201, first.body]);
      expect(refusal(await invite(second, fields, headers))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      expect((await accept(tokenOf(first.body.invitation_url as string))).status).toBe(204);
    });

    it('does nothing for whoever has another kind of link or guesses', async () => {
      const owner = await service.world.owner();
      const { id } = await service.world.member(owner, 'editor');
      const { token } = await invited(owner);
      const resetToken = await resetOf(owner, id);

      for (const wrong of [resetToken, 'guessed', UNKNOWN]) {
        expect(refusal(await view(wrong))).toEqual([404, 'LINK_NOT_FOUND']);
        expect(refusal(await accept(wrong))).toEqual([404, 'LINK_NOT_FOUND']);
      }
      for (const wrong of [token, 'guessed']) expect(refusal(await reset(wrong))).toEqual([404, 'LINK_NOT_FOUND']);
    });

    it('ends with its account for as long as that is disabled, and stays ended', async () => {
      const owner = await service.world.owner();
      const { token } = await invited(owner);
      const accounts = service.app.get(AccountService);

      await accounts.disable(owner.email);
      expect(refusal(await accept(token))).toEqual([404, 'LINK_NOT_FOUND']);
      await accounts.enable(owner.email);

      expect(refusal(await accept(token))).toEqual([404, 'LINK_NOT_FOUND']);
    });
  });

  describe('a password reset', () => {
    it('gives its link to the owner, sets a password once and ends all logins of the member', async () => {
      const owner = await service.world.owner();
      const { id, email, token: live } = await service.world.member(owner, 'editor');

      const started = await startReset(owner, id);

      expect([started.status, started.body]).toEqual([
        200,
        { mailed: false, reset_url: expect.stringMatching(/^https:\/\/lists\.example\/team\/desk\/reset#[\w-]{43}$/) },
      ]);
      expect([await isLive(live), (await logIn(email)).status]).toEqual([true, 200]);
      const token = tokenOf(started.body.reset_url as string);
      const done = await reset(token);
      expect([done.status, done.text]).toEqual([204, '']);
      expect(await isLive(live)).toBe(false);
      expect([(await logIn(email)).status, (await logIn(email, OTHER_PASSWORD)).status]).toEqual([401, 200]);
      expect(refusal(await reset(token, PASSWORD))).toEqual([404, 'LINK_NOT_FOUND']);
      expect((await eventsOf(owner)).slice(-2)).toEqual([
        ['password_reset_started', owner.id, id],
        ['password_reset', id, id],
      ]);
    });

    it('is not spent by a password that is refused', async () => {
      const owner = await service.world.owner();
      const { id, email } = await service.world.member(owner, 'editor');
      const token = await resetOf(owner, id);

      for (const password of ['short', 'passwordpassword', email]) {
        const { status, body } = await reset(token, password);
        expect([status, body.errors[0].field]).toEqual([400, 'new_password']);
      }

      expect((await reset(token)).status).toBe(204);
    });

    it('is for active members only, also for those without a password', async () => {
      const owner = await service.world.owner();
      const invitee = await invited(owner);
      const disabled = await service.world.member(owner, 'editor');
      await change(owner, disabled.id, { is_active: false });

      for (const { id } of [invitee, disabled])
        expect(refusal(await startReset(owner, id))).toEqual([409, 'MEMBER_NOT_ACTIVE']);
      const passwordless = await service.world.member(owner, 'viewer');
      await withoutPassword(service, passwordless.id);
      expect((await reset(await resetOf(owner, passwordless.id))).status).toBe(204);
      expect((await logIn(passwordless.email, OTHER_PASSWORD)).status).toBe(200);
    });

    it.each<[string, (owner: Owner, member: LoggedIn) => Promise<unknown>]>([
      ['there is a newer one', (owner, { id }) => startReset(owner, id)],
      ['the member is disabled', (owner, { id }) => change(owner, id, { is_active: false })],
      ['the member is removed', ({ token }, { id }) => service.api.delete(`${PATH}/${id}`, { token })],
      [
        'the member changes the password',
        (_, { token }) => {
          const body = { current_password: PASSWORD, new_password: OTHER_PASSWORD };
          return post(`${AUTH}/password`, body, token);
        },
      ],
      ['the operator sets the password', (_, { email }) => service.world.setPassword(email, OTHER_PASSWORD)],
    ])('ends when %s', async (_, end) => {
      const owner = await service.world.owner();
      const member = await service.world.member(owner, 'editor');
      const token = await resetOf(owner, member.id);

      await end(owner, member);

      expect(refusal(await reset(token))).toEqual([404, 'LINK_NOT_FOUND']);
    });

    it('holds for an hour', async () => {
      const owner = await service.world.owner();
      const token = await resetOf(owner, owner.id);

      await ahead(HOUR_MS + 1_000, async () => expect(refusal(await reset(token))).toEqual([404, 'LINK_NOT_FOUND']));
      await ahead(HOUR_MS - 60_000, async () => expect((await reset(token)).status).toBe(204));
    });

    it('is given again with the same Idempotency-Key, to the owner who got it alone', async () => {
      const owner = await service.world.owner();
      const second = await service.world.member(owner, 'owner');
      const { id } = await service.world.member(owner, 'editor');
      const headers = { 'idempotency-key': randomUUID() };

      const first = await startReset(owner, id, headers);

      expect((await startReset(owner, id, headers)).body).toEqual(first.body);
      expect(refusal(await startReset(second, id, headers))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    });

    it('of a forgotten password needs mail', async () => {
      for (const email of [(await service.world.owner()).email, someEmail()])
        expect(refusal(await post(`${AUTH}/password/forgotten`, { email }))).toEqual([422, 'MAIL_IS_OFF']);
    });
  });

  it('deletes expired links', async () => {
    const owner = await service.world.owner();
    const { id } = await invited(owner);
    const links = service.app.get(DataSource).getRepository(MemberLinkEntity);
    expect(await links.countBy({ memberId: id })).toBe(1);

    await ahead(8 * DAY_MS, () => service.app.get(Sweeper).sweepAll());

    expect(await links.countBy({ memberId: id })).toBe(0);
  });

  it('keeps no token of a link', async () => {
    const owner = await service.world.owner();
    const { id, token } = await invited(owner);

    const [row] = await service.app.get(DataSource).getRepository(MemberLinkEntity).findBy({ memberId: id });

    expect(JSON.stringify(row)).not.toContain(token);
  });
});

describe('a service with mail', () => {
  let service: Service;
  let mail: MailServer;
  const { post, invite, inviteAgain, startReset, view, accept, reset, logIn, change, eventsOf } = callsTo(
    () => service,
  );
  beforeAll(async () => {
    mail = await MailServer.start();
    const environment = { SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com', PUBLIC_BASE_URL: BASE };
    service = await startService({ environment });
    service.startTasks();
  });
  afterAll(async () => {
    await service.stop();
    await mail.stop();
  });

  const stored = (memberId: string) =>
    service.app
      .get(DataSource)
      .getRepository(MemberMailEntity)
      .find({ where: { memberId }, order: { id: 'ASC' } });
  /** Resolves once the first mail to a member was tried and put off, and that is stored. */
  const untilDeferred = (memberId: string) =>
    until(async () => {
      const [mail] = await stored(memberId);
      return mail!.attempts > 0 && mail!.nextAttemptAt! < new Date(Date.now() + 10_000);
    });
  const forget = (email: string) => post(`${AUTH}/password/forgotten`, { email });
  /** Does what waits in the background. */
  const startAll = () => service.app.get(ForgottenPasswordService).startAll();

  const forgottenTokenOf = async (email: string): Promise<string> => {
    await forget(email);
    const isReset = ({ subject, to }: (typeof mail.arrived)[number]) =>
      subject === 'Set a new password' && to.some(({ address }) => address === email);
    await until(() => mail.arrived.some(isReset));
    return mail.arrived.find(isReset)!.token!;
  };

  it('mails an invitation with the link that the owner sees, and keeps none of it', async () => {
    const owner = await service.world.owner();
    await service.api.patch('/api/v1/account', { name: 'Ada & <b>Co.</b>' }, { token: owner.token });

    const { body } = await invite(owner, { role: 'viewer' });

    const { id, email, invitation_url, mailed } = body as InvitedMemberDto;
    expect(mailed).toBe(true);
    const [arrived] = await mail.mailsTo(email);
    expect(arrived.subject).toBe('You are invited to Ada & <b>Co.</b>');
    expect(arrived.text!.trimEnd()).toBe(`Ada & <b>Co.</b>

You are invited to join Ada & <b>Co.</b>, with the role viewer.

Accept the invitation:
${invitation_url}

The link works once, for 7 days. If you did not expect this mail, ignore it.`);
    expect(arrived.html).toContain('Ada &amp; &lt;b&gt;Co.&lt;/b&gt;');
    expect(arrived.html).toContain(`href="${invitation_url}"`);
    await until(async () => (await stored(id)).every(({ status }) => status === 'sent'));
    expect(await stored(id)).toMatchObject([{ kind: 'invitation', sealedLink: null }]);
    expect((await accept(arrived.token!)).status).toBe(204);
  });

  it('mails the link of a reset to the member, and shows it to nobody', async () => {
    const owner = await service.world.owner();
    const { id, email } = await service.world.member(owner, 'editor');

    const started = await startReset(owner, id);

    expect(started.body).toEqual({ mailed: true });
    const [{ subject, text, token }] = await mail.mailsTo(email);
    expect(subject).toBe('Set a new password');
    expect(text).toContain(`An owner of your account has sent you a link to set a new password for ${email}.`);
    expect((await reset(token!)).status).toBe(204);
    expect((await logIn(email, OTHER_PASSWORD)).status).toBe(200);
  });

  it('mails a repeated request once', async () => {
    const owner = await service.world.owner();
    const { id, email } = await service.world.member(owner, 'editor');
    const headers = { 'idempotency-key': randomUUID() };
    const second = await service.world.member(owner, 'owner');

    const answers = [
      await startReset(owner, id, headers),
      await startReset(owner, id, headers),
      await startReset(second, id, headers),
    ];

    expect(answers.map(({ body }) => body)).toEqual(Array(3).fill({ mailed: true }));
    await mail.mailsTo(email);
    expect(await stored(id)).toHaveLength(1);
  });

  it('mails a forgotten password to an active member who has one, and ends all their logins', async () => {
    const owner = await service.world.owner();
    const { id, email, token: live } = await service.world.member(owner, 'viewer');

    const answer = await forget(email.toUpperCase());

    expect([answer.status, answer.text]).toEqual([202, '']);
    const [{ subject, text, token }] = await mail.mailsTo(email);
    expect(subject).toBe('Set a new password');
    expect(text).toContain(`Somebody asked for a new password for ${email}.`);
    expect((await reset(token!)).status).toBe(204);
    expect((await service.api.get(`${PATH}/me`, { token: live })).status).toBe(401);
    expect((await eventsOf(owner)).slice(-2)).toEqual([
      ['password_reset_started', id, id],
      ['password_reset', id, id],
    ]);
  });

  it('answers the same for an email without an active member who has a password, and mails nothing', async () => {
    const owner = await service.world.owner();
    const { body: invitee } = await invite(owner);
    const [disabled, passwordless, removed, known] = [
      await service.world.member(owner, 'viewer'),
      await service.world.member(owner, 'viewer'),
      await service.world.member(owner, 'viewer'),
      await service.world.member(owner, 'viewer'),
    ];
    await change(owner, disabled.id, { is_active: false });
    await service.api.delete(`${PATH}/${removed.id}`, { token: owner.token });
    await withoutPassword(service, passwordless.id);
    const closed = await service.world.owner();
    await service.app.get(AccountService).disable(closed.email);
    await mail.mailsTo(invitee.email as string);
    const others = [
      someEmail(),
      invitee.email as string,
      disabled.email,
      passwordless.email,
      removed.email,
      closed.email,
    ];

    const comparable = ({ status, text, headers }: Answer) => [
      status,
      text,
      { ...headers, date: null, 'x-request-id': null },
    ];
    const answers = [await forget(known.email)];
    for (const email of others) answers.push(await forget(email));
    await startAll();

    for (const answer of answers) expect(comparable(answer)).toEqual(comparable(answers[0]!));
    await mail.mailsTo(known.email);
    expect(others.map((email) => mail.tried.filter((address) => address === email).length)).toEqual([0, 1, 0, 0, 0, 0]);
    for (const { id } of [disabled, passwordless]) expect(await stored(id)).toEqual([]);
  });

  it('refuses an email that is none', async () => {
    const { status, body } = await forget('nobody');

    expect([status, body.errors[0].field]).toEqual([400, 'email']);
  });

  it('mails five forgotten passwords an hour to one mailbox; owners’ mails are counted apart', async () => {
    const owner = await service.world.owner();
    const added = await invite(owner, { email: `${randomUUID()}@gmail.com` });
    const { id, email } = added.body as InvitedMemberDto;
    expect((await accept(tokenOf(added.body.invitation_url as string))).status).toBe(204);
    for (let index = 0; index < 7; index += 1) {
      await forget(email);
      await startAll();
    }
    const forgotten = async () => (await stored(id)).filter(({ kind }) => kind === 'forgotten_password').length;

    expect(await forgotten()).toBe(5);
    expect((await startReset(owner, id)).body).toEqual({ mailed: true });
    await ahead(HOUR_MS + 1_000, async () => {
      await forget(email);
      await until(async () => (await forgotten()) > 5);
    });
    expect(await forgotten()).toBe(6);
  });

  it('mails what owners start five times a day to one mailbox, and beyond that changes no reset', async () => {
    const owner = await service.world.owner();
    const name = randomUUID().replaceAll('-', '');
    const { body: first } = await invite(owner, { email: `${name}@gmail.com` });
    const mailed = [first.mailed];
    for (let index = 0; index < 3; index += 1) mailed.push((await inviteAgain(owner, first.id as string)).body.mailed);
    // The same mailbox, as its provider folds addresses.
    const { body: other } = await invite(owner, { email: `${name.slice(0, 3)}.${name.slice(3)}+x@gmail.com` });
    expect([...mailed, other.mailed]).toEqual(Array(5).fill(true));

    const beyond = await inviteAgain(owner, first.id as string);

    expect(beyond.body).toMatchObject({ mailed: false });
    expect((await accept(tokenOf(beyond.body.invitation_url as string))).status).toBe(204);
    const token = await forgottenTokenOf(first.email as string);
    expect((await startReset(owner, first.id as string)).body).toEqual({ mailed: false });
    expect((await reset(token)).status).toBe(204);
    await ahead(DAY_MS + 1_000, async () => {
      const again = await logIn(owner.email);
      const by = { ...owner, token: again.body.access_token as string };
      expect((await startReset(by, first.id as string)).body).toEqual({ mailed: true });
    });
  });

  it('mails what owners start fifty times a day for an account', async () => {
    const owner = await service.world.owner();
    const other = await service.world.owner();
    const mailed: boolean[] = [];
    for (let index = 0; index < 51; index += 1) mailed.push((await invite(owner)).body.mailed as boolean);

    expect(mailed.filter(Boolean)).toHaveLength(50);
    expect(mailed.at(-1)).toBe(false);
    expect((await invite(other)).body).toMatchObject({ mailed: true });
    // Strangers use up none of it, and nothing of it stops them.
    await forget(owner.email);
    await mail.mailsTo(owner.email);
  });

  it('sends no mail whose link has ended before it went out, and keeps the link of none', async () => {
    const owner = await service.world.owner();
    await mail.stop();
    try {
      const [disabled, removed, again] = [await invite(owner), await invite(owner), await invite(owner)].map(
        ({ body }) => body as InvitedMemberDto,
      ) as [InvitedMemberDto, InvitedMemberDto, InvitedMemberDto];
      await change(owner, disabled.id, { is_active: false });
      await service.api.delete(`${PATH}/${removed.id}`, { token: owner.token });
      const newer = (await inviteAgain(owner, again.id)).body as InvitedMemberDto;

      for (const { id } of [disabled, removed])
        expect(await stored(id)).toMatchObject([{ status: 'dropped', sealedLink: null }]);
      expect(await stored(again.id)).toMatchObject([
        { status: 'dropped', sealedLink: null },
        { status: 'pending', sealedLink: expect.not.stringContaining(tokenOf(newer.invitation_url)) },
      ]);
      await mail.listen();
      await ahead(7_000, async () => {
        service.app.get(MailDispatcher).wake();
        const mails = await mail.mailsTo(again.email);
        expect(mails.map(({ token }) => token)).toEqual([tokenOf(newer.invitation_url)]);
      });
      expect(mail.tried).not.toContain(disabled.email);
      expect((await view(tokenOf(newer.invitation_url))).status).toBe(200);
    } finally {
      await mail.stop();
      await mail.listen();
    }
  });

  it('still tells of wrong codes when a stranger asks for a new password meanwhile', async () => {
    const { id, email, accountId } = await service.world.owner();
    mail.refuse(email, 450);
    const warning = service.app
      .get(MemberMailStore)
      .insert('two_factor_locked', { id, accountId, emailKey: email }, BASE, new Date());
    await service.app.get(Database).pipelinedTransaction((transaction) => transaction.commit([warning]));

    await forget(email);
    await until(async () => (await stored(id)).length === 2);

    expect((await stored(id))[0]).toMatchObject({ kind: 'two_factor_locked', status: 'pending' });
  });

  it('tries a deferred mail again, gives a refused one up, and deletes old ones', async () => {
    const owner = await service.world.owner();
    const [deferred, refused] = [someEmail(), someEmail()];
    mail.refuse(deferred, 450);
    mail.refuse(refused, 550);
    const [one, other] = [await invite(owner, { email: deferred }), await invite(owner, { email: refused })];
    await until(async () => (await stored(other.body.id as string))[0]?.status === 'failed');
    expect(await stored(other.body.id as string)).toMatchObject([{ sealedLink: null }]);
    await untilDeferred(one.body.id as string);

    mail.accept(deferred);
    await ahead(7_000, async () => {
      service.app.get(MailDispatcher).wake();
      await mail.mailsTo(deferred);
    });

    await ahead(8 * DAY_MS, () => service.app.get(Sweeper).sweepAll());
    expect(await stored(one.body.id as string)).toEqual([]);
  });

  it('drops a mail whose link has expired while it waited', async () => {
    const owner = await service.world.owner();
    const { id, email } = await service.world.member(owner, 'editor');
    mail.refuse(email, 450);
    await startReset(owner, id);
    await untilDeferred(id);
    mail.accept(email);

    await ahead(HOUR_MS + 1_000, async () => {
      service.app.get(MailDispatcher).wake();
      await until(async () => (await stored(id))[0]?.status === 'dropped');
    });

    expect(mail.tried.filter((address) => address === email)).toHaveLength(1);
  });
});

describe('a request for a forgotten password', () => {
  let service: Service;
  beforeAll(async () => {
    // Without background tasks. No mail is sent.
    service = await startService({ environment: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'launch@example.com' } });
  });
  afterAll(() => service.stop());

  it('is worked on after its answer, so that the time of that tells nothing, and once for a rush', async () => {
    const { id, email } = await service.world.owner();
    const links = service.app.get(DataSource).getRepository(MemberLinkEntity);
    const mails = service.app.get(DataSource).getRepository(MemberMailEntity);

    for (let index = 0; index < 3; index += 1)
      expect((await service.api.post(`${AUTH}/password/forgotten`, { email })).status).toBe(202);
    expect([await links.countBy({ memberId: id }), await mails.countBy({ memberId: id })]).toEqual([0, 0]);
    await service.app.get(ForgottenPasswordService).startAll();

    expect([await links.countBy({ memberId: id }), await mails.countBy({ memberId: id })]).toEqual([1, 1]);
  });
});

describe('links on two replicas (one on the embedded database)', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  beforeAll(async () => {
    running = await startServices();
  });
  afterAll(() => running.stop());

  it('work once although two use one at once', async () => {
    const [first] = running.services;
    const last = running.services.at(-1)!;
    for (let round = 0; round < 5; round += 1) {
      const owner = await first.world.owner();
      const body = { email: someEmail(), role: 'viewer' };
      const { invitation_url } = (await first.api.post(PATH, body, { token: owner.token })).body as InvitedMemberDto;
      const passwords = [PASSWORD, OTHER_PASSWORD] as const;
      const accept = ({ api }: Service, password: string) =>
        api.post(`${AUTH}/invitation/accept`, { token: tokenOf(invitation_url), password });

      const answers = await Promise.all([accept(first, passwords[0]), accept(last, passwords[1])]);

      expect(answers.map(refusal).sort()).toEqual([
        [204, undefined],
        [404, 'LINK_NOT_FOUND'],
      ]);
      const winner = passwords[answers.findIndex(({ status }) => status === 204)]!;
      for (const password of passwords) {
        const { status } = await last.api.post(`${AUTH}/create_tokens`, { email: body.email, password });
        expect(status).toBe(password === winner ? 200 : 401);
      }
    }
  });
});

async function withoutPassword(service: Service, id: string): Promise<void> {
  await service.app.get(DataSource).getRepository(MemberEntity).update({ id }, { passwordHash: null });
}
