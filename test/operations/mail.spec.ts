import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { type MemberChanges, MemberService } from '../../src/account/member.service.js';
import type { InvitedMemberDto } from '../../src/auth/member.dto.js';
import { MailDispatcher } from '../../src/mail/mail.dispatcher.js';
import { CONNECTIONS_MAX } from '../../src/mail/mail.sender.js';
import { MailEntity } from '../../src/outbox/mail.entity.js';
import { MailStore } from '../../src/outbox/mail.store.js';
import { WelcomeMailEntity } from '../../src/outbox/welcome-mail.entity.js';
import { Database } from '../../src/platform/database/database.js';
import { write } from '../../src/platform/database/session.js';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { OfferEntity } from '../../src/queue/offers/offer.entity.js';
import { WebhookService } from '../../src/webhook/webhook.service.js';
import { ahead, withoutIntervals } from '../support/clock.js';
import { MailServer } from '../support/mail-server.js';
import { type Service, startService } from '../support/service.js';
import { ServiceProcess, until } from '../support/service-process.js';
import { type LoggedIn, PASSWORD, type Person } from '../support/world.js';

const LEASE_ENDED_MS = 3 * 60_000;
/** After the first delay of the schedule. */
const RETRY_MS = 7_000;
const PEOPLE = 40;
/** More welcomes than become mails at once. */
const RUSH = 120;
/** More than one claim reads. */
const PUT_OFF_WAITLISTS = 2_000;
const MAIL_FROM = 'launch@example.com';
/** Of the observer. */
const SECRET = 'a-secret-that-signs-tokens-in-tests-only';
const NEW_SECRET = 'another-secret-that-signs-tokens-in-tests';

describe('mails of several processes', () => {
  let mail: MailServer;
  /** Shares the database, and sends nothing until it is asked to. */
  let observer: Service;
  let processes: ServiceProcess[];

  beforeEach(async () => {
    mail = await MailServer.start();
    observer = await startService({ isolated: true, environment: { SMTP_URL: mail.url, MAIL_FROM } });
    processes = [];
  });
  afterEach(async () => {
    for (const process of processes) {
      process.signal('SIGKILL');
      await process.exit;
    }
    await observer.stop();
    await mail.stop();
  });

  async function start(own: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
    const environment = { DATABASE_URL: observer.databaseUrl, OWNER_EMAIL: '', SMTP_URL: mail.url, MAIL_FROM };
    const process = await ServiceProcess.spawn({ ...environment, ...own });
    processes.push(process);
    await process.started();
    return process;
  }

  const signUp = async (process: ServiceProcess, waitlist_id: number, email: string): Promise<void> => {
    const { status } = await process.call('POST', '/api/v1/signup', { waitlist_id, email });
    expect(status).toBe(200);
  };
  const invite = async ({ token }: LoggedIn): Promise<InvitedMemberDto> => {
    const body = { email: `${randomUUID()}@members.example`, role: 'viewer' };
    return (await observer.api.post('/api/v1/member', body, { token })).body as InvitedMemberDto;
  };
  /** Of the offer of a person, only the reminder is left to send. */
  const isReminded = async ({ uuid }: Person): Promise<void> => {
    const { manager } = observer.app.get(DataSource);
    await manager.update(OfferEntity, { waiterUuid: uuid }, { expiresAt: new Date(Date.now() + 3_600_000) });
    await manager.update(MailEntity, { waiterUuid: uuid, kind: 'offer' }, { kind: 'offer_reminder' });
  };
  const recipients = () => mail.arrived.map(({ to }) => to[0]!.address!);

  it('arrive at least once each if a process is killed while it sends them', async () => {
    const { id } = await observer.world.waitlist({ verification: 'required' });
    const people = Array.from({ length: PEOPLE }, () => `${randomUUID()}@example.com`);
    const waiting = people.slice(0, 5);
    for (const email of waiting) mail.refuse(email, 'silence');
    const process = await start();
    await Promise.all(people.map((email) => signUp(process, id, email)));
    await until(() => mail.arrived.length > PEOPLE / 2 && waiting.every((email) => mail.tried.includes(email)));

    process.signal('SIGKILL');
    await process.exit;
    for (const email of waiting) mail.accept(email);
    expect(new Set(recipients()).size).toBeLessThan(PEOPLE);

    observer.startTasks();
    await ahead(LEASE_ENDED_MS, async () => {
      observer.app.get(MailDispatcher).wake();
      await until(() => new Set(recipients()).size === PEOPLE);
    });

    for (const email of people) {
      const mails = await mail.mailsTo(email);
      // A mail program shows copies with one id once.
      expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
      const { link } = mails.at(-1)!;
      expect((await observer.api.post(link!, undefined, { raw: '' })).status).toBe(303);
    }
  });

  it('reach an owner who tried one before the process was killed', async () => {
    const waitlist = await observer.world.waitlist();
    mail.refuse(waitlist.owner.email, 'silence');
    const process = await start();
    const path = `/api/v1/waitlist/${waitlist.id}/mail_test`;
    const { status } = await process.call('POST', path, { kind: 'welcome' }, { token: waitlist.owner.token });
    expect(status).toBe(202);
    process.signal('SIGKILL');
    await process.exit;
    mail.accept(waitlist.owner.email);

    observer.startTasks();

    await ahead(LEASE_ENDED_MS, async () => {
      observer.app.get(MailDispatcher).wake();
      await mail.mailsTo(waitlist.owner.email);
    });
  });

  it('about a webhook that was turned off go to each owner who can log in, once', async () => {
    const { world, app } = observer;
    const waitlist = await world.waitlist();
    const { owner } = waitlist;
    const second = await world.member(owner, 'owner');
    await world.member(owner, 'editor');
    await world.owner();
    const change = async (id: string, changes: MemberChanges) =>
      app.get(MemberService).update(id, changes, operatorWrite(owner.accountId));
    await change((await world.member(owner, 'owner')).id, { isActive: false });
    // They are owners until the mails are written.
    const [demoted, disabled, removed] = [
      await world.member(owner, 'owner'),
      await world.member(owner, 'owner'),
      await world.member(owner, 'owner'),
    ];
    const { body: hook } = await observer.api.post(
      `/api/v1/waitlist/${waitlist.id}/webhook`,
      { url: 'https://1.1.1.1/hook' },
      { token: owner.token },
    );
    await app.get(WebhookService).turnOff({ waitlistId: waitlist.id, id: hook.id });
    await change(demoted.id, { role: 'editor' });
    await change(disabled.id, { isActive: false });
    await app.get(MemberService).remove(removed.id, operatorWrite(owner.accountId));

    const mails = app.get(DataSource).getRepository(MailEntity);
    expect(await mails.countBy({ status: 'pending' })).toBe(5);
    observer.startTasks();
    await until(async () => !(await mails.existsBy({ status: 'pending' })));

    expect(recipients().toSorted()).toEqual([owner.email, second.email].toSorted());
  });

  it('that somebody waits for go first, whatever waits longer', async () => {
    const settings = { verification: 'off', mail_on_signup: true, mail_on_offboarding: true } as const;
    const waitlist = await observer.world.waitlist(settings);
    const people = await observer.world.signups(waitlist, 4);
    const [letIn, welcomed, offered, reminded] = people as [Person, Person, Person, Person];
    const body = { signups: [offered, reminded].map(({ uuid }) => ({ uuid })) };
    await observer.api.post(`/api/v1/waitlist/${waitlist.id}/offer`, body, { token: waitlist.owner.token });
    await isReminded(reminded);
    await observer.world.offboard(waitlist, [await observer.world.idOf(waitlist, letIn)]);
    await observer.api.post(
      `/api/v1/waitlist/${waitlist.id}/mail_test`,
      { kind: 'welcome' },
      { token: waitlist.owner.token },
    );
    const verifying = await observer.world.waitlist({ verification: 'required' });
    // They leave one connection, so that the others go out one by one.
    for (const { email } of await observer.world.signups(verifying, CONNECTIONS_MAX - 1)) mail.refuse(email, 'silence');
    const asked = await observer.world.signup(verifying);
    const { email: invited } = await invite(waitlist.owner);
    withoutIntervals(() => observer.startTasks());
    await until(() => mail.arrived.length === 7);

    const last = [offered, letIn, welcomed, reminded].map(({ email }) => email);
    expect(recipients()).toEqual([invited, asked.email, waitlist.owner.email, ...last]);
  });

  it('invite a member of another account before the rest of a rush', async () => {
    const [rushing, other] = [await observer.world.owner(), await observer.world.owner()];
    for (let index = 0; index < PEOPLE; index += 1) await invite(rushing);
    const { email } = await invite(other);

    observer.startTasks();
    await mail.mailsTo(email);

    expect(recipients().indexOf(email)).toBeLessThan(2 * CONNECTIONS_MAX);
    await until(() => mail.arrived.length === PEOPLE + 1);
    expect(new Set(recipients()).size).toBe(PEOPLE + 1);
  });

  it('have the link of before a restart, and wait for a process that lists the secret which seals it', async () => {
    const owner = await observer.world.owner();
    const earlier = await invite(owner);
    const other = await start({ JWT_SECRET: NEW_SECRET });
    const login = { email: owner.email, password: PASSWORD };
    const { access_token: token } = (await other.call('POST', '/api/v1/auth/create_tokens', login)).body as {
      access_token: string;
    };
    const later = { email: `${randomUUID()}@members.example`, role: 'viewer' };
    expect((await other.call('POST', '/api/v1/member', later, { token })).status).toBe(201);
    await mail.mailsTo(later.email);
    expect(mail.tried).toEqual([later.email]);
    await other.stop();

    await start({ JWT_SECRET: `${NEW_SECRET},${SECRET}` });

    const [{ token: mailed }] = await mail.mailsTo(earlier.email);
    expect(earlier.invitation_url).toMatch(new RegExp(`#${mailed}$`));
    expect((await observer.api.post('/api/v1/auth/invitation', { token: mailed })).status).toBe(200);
  });

  it('welcome a person of another waitlist before the rest of a rush, and nobody who has left', async () => {
    const rush = await observer.world.waitlist({ mail_on_signup: true });
    const [leaver] = await observer.world.signups(rush, RUSH);
    const erasure = { waitlist_id: rush.id, signups: [{ uuid: leaver.uuid }] };
    await observer.api.call('DELETE', '/api/v1/signup', erasure, { token: rush.owner.token });
    const other = await observer.world.signup(await observer.world.waitlist({ mail_on_signup: true }));

    observer.startTasks();
    await mail.mailsTo(other.email);

    expect(recipients().indexOf(other.email)).toBeLessThan(2 * CONNECTIONS_MAX);
    await until(() => mail.arrived.length === RUSH);
    expect(recipients()).not.toContain(leaver.email);
  });

  it('welcome nobody who waited for it as long as mails are kept', async () => {
    const waitlist = await observer.world.waitlist({ mail_on_signup: true });
    const [old] = await observer.world.signups(waitlist, 2);
    const welcomes = observer.app.get(DataSource).getRepository(WelcomeMailEntity);
    await welcomes.update({ waiterUuid: old.uuid }, { createdAt: new Date(0) });

    await observer.app.get(Sweeper).sweepAll();

    expect(await welcomes.find()).toMatchObject([{ waitlistId: waitlist.id }]);
    expect(await welcomes.existsBy({ waiterUuid: old.uuid })).toBe(false);
  });

  it('are sent again if the server was silent for ten seconds', async () => {
    const dispatcher = observer.app.get(MailDispatcher);
    observer.startTasks();
    const email = `${randomUUID()}@example.com`;
    mail.refuse(email, 'silence');
    await observer.world.signup(await observer.world.waitlist({ verification: 'required' }), { email });
    const isDeferred = async () => (await observer.api.get('/metrics')).text.includes('{outcome="retried"} 1');
    await until(isDeferred);
    mail.accept(email);

    await ahead(RETRY_MS, async () => {
      dispatcher.wake();
      await mail.mailsTo(email);
    });
  });

  it('count an attempt whose connection ended before its status came: the server may have taken the mail', async () => {
    observer.startTasks();
    const email = `${randomUUID()}@example.com`;
    mail.refuse(email, 'silence');
    const waitlist = await observer.world.waitlist({ verification: 'required' });
    await observer.world.signup(waitlist, { email });
    await until(() => mail.tried.length > 0);
    const mails = observer.app.get(DataSource).getRepository(MailEntity);
    const lease = (await mails.findOneByOrFail({ waitlistId: waitlist.id })).nextAttemptAt;

    await mail.stop();

    const isSettled = async () => !(await mails.existsBy({ waitlistId: waitlist.id, nextAttemptAt: lease! }));
    await until(isSettled);
    const [{ attempts, attemptedAt }] = (await mails.findBy({ waitlistId: waitlist.id })) as [MailEntity];
    expect([attempts, attemptedAt]).toEqual([1, expect.any(Date)]);
  });

  it('wait for no waitlist whose mails were put off, however many there are', async () => {
    const database = observer.app.get(Database);
    const email = `${randomUUID()}@example.com`;
    const waitlist = await observer.world.waitlist({ verification: 'required' });
    await observer.world.signup(waitlist, { email });
    const at = new Date(Date.now() + LEASE_ENDED_MS);
    const putOff = Array.from({ length: PUT_OFF_WAITLISTS }, (_, index) => {
      const mail = {
        kind: 'verification' as const,
        waiterUuid: randomUUID(),
        emailKey: email,
        network: null,
        isBounded: true,
        at,
      };
      return observer.app.get(MailStore).insert(index + 1, [mail]);
    });
    const last = [
      write('UPDATE waitlist SET id = ? WHERE id = ?', [PUT_OFF_WAITLISTS + 1, waitlist.id]),
      write('UPDATE mail SET waitlist_id = ? WHERE waitlist_id = ?', [PUT_OFF_WAITLISTS + 1, waitlist.id]),
    ];
    await database.pipelinedTransaction((transaction) => transaction.commit([...last, ...putOff]));

    // The first look for mails must find it.
    withoutIntervals(() => observer.startTasks());
    await mail.mailsTo(email);
  });

  it('wait for a process with SMTP_URL; a process without it logs one warning at start', async () => {
    const ada = await observer.world.signup(await observer.world.waitlist({ verification: 'required' }));

    const process = await ServiceProcess.spawn({ DATABASE_URL: observer.databaseUrl, OWNER_EMAIL: '' });
    processes.push(process);
    await process.started();
    const lines = process.output.split('\n').filter((line) => /^{.*SMTP_URL/.test(line));
    expect(lines).toEqual([expect.stringContaining('"waitlists":1')]);

    await start();
    await mail.mailsTo(ada.email);
  });

  const onServer = process.env.TEST_DATABASE_URL ? it : it.skip;
  onServer('are sent once each by several processes, which keep to the bounds together', async () => {
    const mailbox = randomUUID();
    const lists = await Promise.all(
      Array.from({ length: 12 }, () => observer.world.waitlist({ verification: 'required' })),
    );
    const running = [await start(), await start(), await start()];
    const people = Array.from({ length: 150 }, () => `${randomUUID()}@example.com`);

    await Promise.all([
      ...people.map((email, index) => signUp(running[index % 3]!, lists[index % 12]!.id, email)),
      ...lists.map(({ id }, index) => signUp(running[index % 3]!, id, `${mailbox}+${index}@example.com`)),
    ]);

    await until(() => mail.tried.length >= people.length + 5);
    await signUp(running[0]!, lists[0]!.id, `${randomUUID()}@example.com`);
    await until(() => mail.arrived.length >= people.length + 6);
    expect(new Set(recipients()).size).toBe(mail.tried.length);
    expect(recipients().filter((email) => email.startsWith(mailbox))).toHaveLength(5);
  });
});
