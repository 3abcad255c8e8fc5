import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseHTML } from 'linkedom';
import { DataSource } from 'typeorm';
import { DueMailStore } from '../../src/mail/due-mail.store.js';
import { MailDispatcher } from '../../src/mail/mail.dispatcher.js';
import { CONNECTIONS_MAX } from '../../src/mail/mail.sender.js';
import { MailEntity } from '../../src/outbox/mail.entity.js';
import { MailStore } from '../../src/outbox/mail.store.js';
import { Database } from '../../src/platform/database/database.js';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import type { MailServer } from '../support/mail-server.js';
import { EXEMPT, type MailingService, startMailingService } from '../support/mailing-service.js';
import { documentOf, FORM, pressButton, statusPath, textOf, within } from '../support/page.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import { newEmail, type OwnedWaitlist, type Person } from '../support/world.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Another process, or this one, may try a mail again after its lease. */
const LEASE_ENDED_MS = 3 * MINUTE_MS;
const HOSTILE = '{{ to }} {{{ html }}} {{#each this}} <b>&"\'<script>alert(1)</script>';

let service: MailingService;
let mail: MailServer;
beforeAll(async () => {
  service = await startMailingService({ MAIL_FROM: '"Launch, Inc." <launch@example.com>' });
  ({ mail } = service);
});
afterAll(() => service.stop());

let addresses = 0;
/** An address that no other test calls from, so its limits are unused. */
const newAddress = () => `198.51.${Math.floor((addresses += 1) / 250)}.${addresses % 250}`;

/**
 * Resolves once all mails that are due now have been tried, and the results are stored: none is due any more, and the
 * last ones take all connections.
 */
async function allAreSent(): Promise<void> {
  const { id } = await service.world.waitlist({ verification: 'required' });
  const last = Array.from({ length: CONNECTIONS_MAX }, newEmail);
  for (const email of last) mail.refuse(email, 'silence');
  service.app.get(MailDispatcher).wake();
  await until(async () => {
    const due = await service.app.get(Database).one(service.app.get(DueMailStore).findDue(new Date()));
    return due.size === 0;
  });
  await Promise.all(last.map((email) => service.world.signup({ id }, { email })));
  service.app.get(MailDispatcher).wake();
  await until(() => last.every((email) => mail.tried.includes(email)));
  for (const email of last) mail.accept(email);
}

const countMailsTo = (email: string): number =>
  mail.arrived.filter(({ to }) => to.some(({ address }) => address === email)).length;

/** The path of the newest link that was mailed to an address. */
async function linkOf(email: string, count = 1): Promise<string> {
  return (await service.mailsTo(email, count)).at(-1)!.link!;
}

const click = (link: string): Promise<Answer> => pressButton(service.api, link);
const resend = (waitlist_id: number, email: string, from = newAddress()): Promise<Answer> =>
  service.api.post('/api/v1/signup/resend_verification', { waitlist_id, email }, { from });

async function waiterOf(waitlist: OwnedWaitlist, { uuid }: Person) {
  return (await service.api.get(`/api/v1/signup/${uuid}`, { token: waitlist.owner.token })).body;
}

const patch = (waitlist: OwnedWaitlist, { uuid }: Person, changes: object): Promise<Answer> =>
  service.api.patch(`/api/v1/signup/${uuid}`, changes, { token: waitlist.owner.token });

const change = (waitlist: OwnedWaitlist, settings: object): Promise<Answer> =>
  service.api.patch(`/api/v1/waitlist/${waitlist.id}`, settings, { token: waitlist.owner.token });

describe('a waitlist that requires verification', () => {
  it('gives a person the last place at the click in the mail, not before', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const bob = await service.world.signup(waitlist);
    expect(ada.status).toBe('pending');

    const first = await click(await linkOf(bob.email));
    const second = await click(await linkOf(ada.email));

    expect([first.status, second.status]).toEqual([303, 303]);
    expect(within(first.headers.location)).toBe(statusPath(waitlist, bob));
    expect([await service.world.priorityOf(bob), await service.world.priorityOf(ada)]).toEqual([0, 1]);
    expect(await waiterOf(waitlist, ada)).toMatchObject({ status: 'waiting', verified: true });
  });

  it('shows a pending person a page with a button that mails again, without a script', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    await service.mailsTo(ada.email);

    const page = await service.api.get(statusPath(waitlist, ada));
    const action = documentOf(page).querySelector('form')!.getAttribute('action')!;
    const sent = await pressButton(service.api, within(action), newAddress());
    const again = await service.api.get(within(sent.headers.location));

    expect(textOf(page, 'h1')).toBe('Check your email');
    expect([sent.status, within(sent.headers.location)]).toEqual([303, `${statusPath(waitlist, ada)}?sent`]);
    expect(textOf(again)).toContain('A link is on its way.');
    await service.mailsTo(ada.email, 2);
  });
});

describe('a waitlist with optional verification', () => {
  it('gives the place at once, and the referrer the credit at the click', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const [, , referrer] = await service.world.signups(waitlist, 3);
    const friend = await service.world.signup(waitlist, { referral_link: referrer!.referral_link });

    expect([friend.status, await service.world.priorityOf(referrer!)]).toEqual(['waiting', 2]);
    expect(await waiterOf(waitlist, friend)).toMatchObject({ credit: 'awaiting_verification' });
    await click(await linkOf(friend.email));

    expect(await service.world.priorityOf(referrer!)).toBe(0);
    expect(await waiterOf(waitlist, friend)).toMatchObject({ credit: 'credited', verified: true });
  });
});

describe('a service that lost its mail server', () => {
  const HONEST = 'Your email address still has to be confirmed, but we can’t send any email right now.';
  let silent: Service;
  beforeAll(async () => {
    silent = await startService({ environment: { DATABASE_URL: service.databaseUrl } });
  });
  afterAll(() => silent.stop());

  it('says after a signup that it sends no mail, and whom to ask; with a mail server, it mails again', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required', contact: 'hello@example.com' });
    const raw = new URLSearchParams({ waitlist_id: String(waitlist.id), email: newEmail() }).toString();

    const { headers } = await silent.api.post('/api/v1/signup', undefined, { raw, headers: FORM });

    const path = String(headers.location);
    for (const page of [await silent.api.get(path), await silent.api.get(`${path}?sent`)]) {
      expect([textOf(page, 'h1'), textOf(page, 'title')]).toEqual([
        'Your signup isn’t complete yet',
        'Your signup isn’t complete yet – Test',
      ]);
      expect(textOf(page)).toContain(HONEST);
      expect(textOf(page)).toContain('Get in touch: hello@example.com');
      expect(textOf(page)).not.toMatch(/We sent you|A link is on its way/);
      expect(documentOf(page).querySelector('form')).toBeNull();
    }
    const mailed = await service.api.get(path);
    expect([textOf(mailed, 'h1'), textOf(mailed, '.waitlist-resend button')]).toEqual([
      'Check your email',
      'Send it again',
    ]);
  });

  it('says the same beside the place where verification is optional', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const ada = await service.world.signup(waitlist);

    const page = await silent.api.get(statusPath(waitlist, ada));

    expect(textOf(page, 'h1')).toBe('You’re number 1');
    expect(textOf(page)).toContain(HONEST);
    expect(documentOf(page).querySelector('form')).toBeNull();
  });

  it('promises no other link where one is dead', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });

    for (const kind of ['verify', 'leave']) {
      const page = await silent.api.get(`/waitlist/${waitlist.id}/${kind}/x`);

      expect(textOf(page)).toBe('TestThis link doesn’t work anymoreSee my place');
      expect(documentOf(page).querySelector('main a')!.getAttribute('href')).toBe(`/waitlist/${waitlist.id}/find`);
    }
  });

  it('tells widgets so in the public view', async () => {
    const { id } = await service.world.waitlist({ verification: 'required' });

    const views = await Promise.all([service, silent].map(({ api }) => api.get(`/api/v1/waitlist/${id}`)));

    expect(views.map(({ body }) => body.sends_mail)).toEqual([true, false]);
  });
});

describe('a link', () => {
  it('leads to a page with a button and changes nothing by itself, because mail scanners open it', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required', waitlist_name: HOSTILE });
    const ada = await service.world.signup(waitlist);
    const link = await linkOf(ada.email);

    const page = await service.api.get(link);
    await service.api.call('HEAD', link);

    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
    const form = documentOf(page).querySelector('form')!;
    expect([form.getAttribute('method'), form.getAttribute('action')]).toEqual(['post', `/lists${link}`]);
    expect(page.text).not.toContain('<script>alert');
    expect(await waiterOf(waitlist, ada)).toMatchObject({ status: 'pending', verified: false });
  });

  it('works a second time, and changes nothing then', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const link = await linkOf(ada.email);
    await click(link);
    await service.world.signup(waitlist);

    const again = await click(link);

    expect([again.status, within(again.headers.location)]).toEqual([303, statusPath(waitlist, ada)]);
    expect(await service.world.priorityOf(ada)).toBe(0);
  });

  it('says that the email is confirmed once it is, and then only leads to the place', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const link = await linkOf(ada.email);
    await service.api.get(link);
    const before = await service.api.get(link);
    await click(link);

    const after = await service.api.get(link);

    expect([textOf(before, 'h1'), textOf(before, 'button')]).toEqual(['Confirm your email', 'Confirm email']);
    expect([after.status, textOf(after, 'h1'), textOf(after, 'button')]).toEqual([
      200,
      'Your email is confirmed.',
      'See my place',
    ]);
    expect(textOf(after)).not.toContain('One more click');
    expect(after.text).not.toContain(ada.uuid);
  });

  it('ends when a newer one is used, and not when a newer one is sent', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const first = await linkOf(ada.email);
    await resend(waitlist.id, ada.email);
    const second = await linkOf(ada.email, 2);
    await resend(waitlist.id, ada.email);
    const third = await linkOf(ada.email, 3);

    expect(new Set([first, second, third]).size).toBe(3);
    expect((await click(second)).status).toBe(303);
    expect([(await click(first)).status, (await click(third)).status]).toEqual([404, 404]);
  });

  it('is 404 with a page if it is wrong or of another waitlist', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const other = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const link = await linkOf(ada.email);
    const wrong = [
      `${link}x`,
      `/waitlist/${waitlist.id}/verify/x`,
      link.replace(`/${waitlist.id}/`, `/${other.id}/`),
      link.replace(`/${waitlist.id}/`, '/0/'),
    ];

    for (const path of wrong) {
      for (const answer of [await service.api.get(path), await click(path)]) {
        expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      }
    }
    expect(await waiterOf(waitlist, ada)).toMatchObject({ status: 'pending' });
  });

  it('works for 72 hours', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const link = await linkOf(ada.email);

    await ahead(71 * HOUR_MS, async () => expect((await service.api.get(link)).status).toBe(200));
    await ahead(73 * HOUR_MS, async () => {
      const answer = await click(link);
      expect([answer.status, textOf(answer, 'h1')]).toEqual([404, 'This link doesn’t work anymore']);
      expect(textOf(answer, 'main a')).toBe('Sign up again');
    });
    expect(await waiterOf(waitlist, ada)).toMatchObject({ status: 'pending' });
  });

  it('that is wrong leads to the form of those who joined on a closed waitlist, where nobody can sign up', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required', is_closed: true });

    const answer = await service.api.get(`/waitlist/${waitlist.id}/verify/x`);

    expect(textOf(answer)).toContain('Your private page can send you another.');
    const link = documentOf(answer).querySelector('main a')!;
    expect([link.textContent, link.getAttribute('href')]).toEqual([
      'See my place',
      `/lists/waitlist/${waitlist.id}/find`,
    ]);
  });

  it('that is wrong shows the texts of a public waitlist, and none of a private one', async () => {
    const waitlist = await service.world.waitlist({ lang: 'fr', texts: { link_not_found: 'Ce lien a expiré' } });
    const wrong = `/waitlist/${waitlist.id}/verify/x`;

    const shown = await click(wrong);
    await change(waitlist, { is_public: false });
    const hidden = await click(wrong);

    expect([textOf(shown, 'h1'), documentOf(shown).documentElement.lang]).toEqual(['Ce lien a expiré', 'fr']);
    expect(textOf(hidden, 'h1')).toBe('This link doesn’t work anymore');
  });

  it('ends with a corrected email, which gets a mail of its own; place and credit stay', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const referrer = await service.world.signup(waitlist);
    const friend = await service.world.signup(waitlist, { referral_link: referrer.referral_link });
    await click(await linkOf(friend.email));
    await resend(waitlist.id, friend.email);
    const old = await linkOf(friend.email);
    const email = newEmail();

    await patch(waitlist, friend, { email });

    expect(await waiterOf(waitlist, friend)).toMatchObject({ verified: false, credit: 'credited', status: 'waiting' });
    expect((await click(old)).status).toBe(404);
    expect((await click(await linkOf(email))).status).toBe(303);
    expect(await waiterOf(waitlist, friend)).toMatchObject({ verified: true, credit: 'credited' });
  });

  it('is needed for a corrected email later, if the waitlist asks for no verification now', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await patch(waitlist, ada, { verified: true });
    const email = newEmail();

    expect((await patch(waitlist, ada, { email })).body).toMatchObject({ email, verified: false });
    await change(waitlist, { verification: 'optional' });
    await resend(waitlist.id, email);

    expect((await click(await linkOf(email))).status).toBe(303);
    expect(countMailsTo(email)).toBe(1);
  });

  it('is mailed again, even after verification was turned off, to people whose place or credit waits for it', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const referrer = await service.world.signup(waitlist);
    const friend = await service.world.signup(waitlist, { referral_link: referrer.referral_link });
    await change(waitlist, { verification: 'required' });
    const pending = await service.world.signup(waitlist);
    for (const { email } of [friend, pending]) await service.mailsTo(email);

    await change(waitlist, { verification: 'off' });

    for (const { email } of [friend, pending]) {
      await service.world.signup(waitlist, { email });
      await click(await linkOf(email, 2));
    }
    expect(await waiterOf(waitlist, friend)).toMatchObject({ credit: 'credited', verified: true });
    expect(await waiterOf(waitlist, pending)).toMatchObject({ status: 'waiting', verified: true });
  });

  it('ends when its person is erased, and no pending mail is sent to them', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const link = await linkOf(ada.email);
    mail.refuse(ada.email, 451);
    await resend(waitlist.id, ada.email);
    service.app.get(MailDispatcher).wake();
    await until(() => mail.tried.filter((email) => email === ada.email).length === 2);

    const body = { waitlist_id: waitlist.id, signups: [{ uuid: ada.uuid }] };
    await service.api.call('DELETE', '/api/v1/signup', body, { token: waitlist.owner.token });
    mail.accept(ada.email);

    expect([(await service.api.get(link)).status, (await click(link)).status]).toEqual([404, 404]);
    await ahead(MINUTE_MS, allAreSent);
    expect(countMailsTo(ada.email)).toBe(1);
  });
});

describe('a verification mail', () => {
  it('holds nothing of the signup but the address, because a stranger may have typed it', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const signup = {
      first_name: 'Wilhelmina',
      last_name: 'Buy-now-at-evil.example',
      phone: '+12015550123',
      metadata: { note: 'click-evil.example' },
    };
    const ada = await service.world.signup(waitlist, signup);

    const [{ raw, text, html }] = await service.mailsTo(ada.email);

    for (const part of [raw, text!, html!])
      for (const secret of ['Wilhelmina', 'evil', '2015550123', ada.uuid, ada.referral_token])
        expect(part).not.toContain(secret);
  });

  it("has the owner's subject and text as they are, in plain text and in HTML, never as a template", async () => {
    const waitlist = await service.world.waitlist({
      verification: 'required',
      waitlist_name: `Launch ${HOSTILE}`,
      mail_subject: `Welcome ${HOSTILE}`,
      mail_text: `First ${HOSTILE}\nline\n\nSecond`,
      lang: 'ar',
    });
    const ada = await service.world.signup(waitlist);

    const [{ subject, text, html, from, to, link }] = await service.mailsTo(ada.email);

    expect([subject, from, to.map(({ address }) => address)]).toEqual([
      `Welcome ${HOSTILE}`,
      { address: 'launch@example.com', name: 'Launch, Inc.' },
      [ada.email],
    ]);
    expect(text).toContain(`First ${HOSTILE}\nline\n\nSecond`);
    const { document } = parseHTML(html!);
    expect(document.querySelector('script, b')).toBeNull();
    expect(document.body.textContent).toContain(`First ${HOSTILE}`);
    expect(document.documentElement.getAttribute('dir')).toBe('rtl');
    expect(document.querySelector('a')!.getAttribute('href')).toBe(`https://example.com/lists${link}`);
  });

  it('shows a subject that looks like encoded text as it is', async () => {
    const mail_subject = '=?utf-8?Q?=0D=0ABcc:_v@x.example?= and a long, long end of it 👩‍👩‍👧';
    const ada = await service.world.signup(await service.world.waitlist({ verification: 'required', mail_subject }));

    const [{ subject, raw }] = await service.mailsTo(ada.email);

    expect(subject).toBe(mail_subject);
    expect(raw).not.toContain('=?utf-8?Q?=0D');
  });

  it("has the owner's words on its button", async () => {
    const settings = { verification: 'required', lang: 'de', texts: { verify_button: 'E-Mail bestätigen' } } as const;
    const ada = await service.world.signup(await service.world.waitlist(settings));

    const [{ text, html }] = await service.mailsTo(ada.email);

    expect(text).toContain('E-Mail bestätigen:');
    expect(parseHTML(html!).document.querySelector('a')!.textContent).toBe('E-Mail bestätigen');
  });

  it("has the service's own subject and text where the owner's are blank", async () => {
    const settings = { verification: 'required', waitlist_name: 'Launch', mail_subject: '  ', mail_text: ' ' } as const;
    const ada = await service.world.signup(await service.world.waitlist(settings));

    const [{ subject, text }] = await service.mailsTo(ada.email);

    expect(subject).toBe('Confirm your email for Launch');
    expect(text).toContain('Please confirm your email address.');
  });

  it('links to PUBLIC_BASE_URL, whatever host was asked for', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const email = newEmail();
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    await service.api.post('/api/v1/signup', { waitlist_id: waitlist.id, email }, { headers });

    const [{ text, raw }] = await service.mailsTo(email);

    expect(text).toContain(`https://example.com/lists/waitlist/${waitlist.id}/verify/`);
    expect(raw).not.toContain('evil.example');
  });

  it('goes to the whole address as it was typed, and to nobody else', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const email = `O'Hara+${randomUUID()}@Example.com`;
    await service.world.signup(waitlist, { email });

    service.app.get(MailDispatcher).wake();
    await until(() => mail.tried.some((address) => address.toLowerCase() === email.toLowerCase()));

    expect(mail.tried.filter((address) => address.includes(email.slice(7, 43)))).toHaveLength(1);
  });

  it('is not sent if verification is off or the email is verified', async () => {
    const off = await service.world.waitlist();
    const on = await service.world.waitlist({ verification: 'required' });
    const [ada, bob] = [await service.world.signup(off), await service.world.signup(on)];
    await click(await linkOf(bob.email));
    await resend(off.id, ada.email);
    await resend(on.id, bob.email);
    await service.world.signup(on, { email: bob.email });

    await allAreSent();

    expect([countMailsTo(ada.email), countMailsTo(bob.email)]).toEqual([0, 1]);
  });
});

describe('asking for another mail', () => {
  it('has the same answer for every email, and mails only those who are not verified', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const [ada, bob] = await service.world.signups(waitlist, 2);
    await click(await linkOf(bob!.email));

    const answers = [ada.email, bob!.email, newEmail()].map((email) => resend(waitlist.id, email));

    for (const { status, text } of await Promise.all(answers)) expect([status, text]).toEqual([202, '']);
    await service.mailsTo(ada.email, 2);
    await allAreSent();
    expect(countMailsTo(bob!.email)).toBe(1);
  });

  it('is refused for an unknown waitlist or without an email', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });

    expect((await resend(9_007_199_254_740_991, newEmail())).body.error_code).toBe('WAITLIST_NOT_FOUND');
    for (const email of [undefined, null, '', ' ', 'nobody']) {
      const { status, body } = await resend(waitlist.id, email as string);
      const rule = email === 'nobody' ? 'format' : 'required';
      expect([status, body.errors]).toMatchObject([400, [{ field: 'email', rule }]]);
    }
  });

  it('is refused beyond five an hour from one address, for known and unknown emails, but not from an exempt server', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    const ask = async (email: string, from: string) => (await resend(waitlist.id, email, from)).status;
    const statusesFrom = async (from: string) => {
      const statuses: number[] = [];
      for (const email of [ada.email, newEmail(), newEmail(), ada.email, newEmail(), ada.email, newEmail()])
        statuses.push(await ask(email, from));
      return statuses;
    };

    expect(await statusesFrom('2001:db8::1')).toEqual([202, 202, 202, 202, 202, 429, 429]);
    expect(await ask(ada.email, '2001:db8::2')).toBe(429);
    expect(await statusesFrom(EXEMPT)).not.toContain(429);
    const path = `/waitlist/${waitlist.id}/status/${ada.uuid}/resend`;
    const page = await pressButton(service.api, path, '2001:db8::3');
    expect([page.status, page.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8']);
  });
});

describe('signing up again', () => {
  it('mails another link to a pending person', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    await service.mailsTo(ada.email);

    const again = await service.world.signup(waitlist, { email: ada.email });

    expect([again.uuid, again.status]).toEqual([ada.uuid, 'pending']);
    await service.mailsTo(ada.email, 2);
  });

  it('stores no mail that would be dropped: not beyond the bound of the mailbox, which leaves one line', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const ada = await service.world.signup(waitlist);
    for (let count = 1; count <= 5; count += 1) {
      await service.mailsTo(ada.email, count);
      await service.world.signup(waitlist, { email: ada.email });
    }
    await allAreSent();

    const stored = await service.app.get(DataSource).getRepository(MailEntity).findBy({ waiterUuid: ada.uuid });
    expect(stored.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'sent'));
    const lines = service.logged('a bound').filter((line) => line.includes(`"waitlistId":${waitlist.id},`));
    expect(lines).toEqual([expect.stringContaining('"bound":"mailbox_hour"')]);
  });

  it('stores no other mail while one waits for its first attempt', async () => {
    // Nobody else sends its mails.
    const quiet = await startService({
      isolated: true,
      environment: { SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com' },
    });
    const waitlist = await quiet.world.waitlist({ verification: 'required' });
    const ada = await quiet.world.signup(waitlist);

    await quiet.world.signup(waitlist, { email: ada.email });

    const stored = await quiet.app.get(DataSource).getRepository(MailEntity).findBy({ waiterUuid: ada.uuid });
    await quiet.stop();
    expect(stored).toHaveLength(1);
  });
});

describe('one mailbox', () => {
  /**
   * Signs a mailbox up on lists of its own, each with another tag, and returns how many mails to it were tried so far.
   */
  async function flood(name: string, count: number): Promise<number> {
    for (let index = 0; index < count; index += 1) {
      const waitlist = await service.world.waitlist({ verification: 'required' });
      await service.world.signup(waitlist, { email: `${name}+${index}@example.com` });
    }
    await allAreSent();
    return mail.tried.filter((address) => address.startsWith(name)).length;
  }

  it('gets at most 5 mails an hour and 10 a day, over all waitlists and tags, and the answers stay the same', async () => {
    const name = randomUUID();
    expect(await flood(name, 7)).toBe(5);
    expect(await ahead(HOUR_MS + MINUTE_MS, () => flood(name, 6))).toBe(10);
    expect(await ahead(2 * HOUR_MS + 2 * MINUTE_MS, () => flood(name, 1))).toBe(10);
    expect(await ahead(25 * HOUR_MS, () => flood(name, 1))).toBe(11);
  });

  it('also gets the deferred mails: each is counted once, at its first attempt', async () => {
    const name = randomUUID();
    const emails = Array.from({ length: 5 }, (_, index) => `${name}+${index}@example.com`);
    for (const email of emails) mail.refuse(email, 451);
    // The clock stands still meanwhile, so that no retry is due, however slow the machine is.
    expect(await ahead(0, () => flood(name, 5))).toBe(5);
    for (const email of emails) mail.accept(email);

    expect(await ahead(HOUR_MS + MINUTE_MS, () => flood(name, 6))).toBe(15);
  });
});

describe('one network', () => {
  it('causes at most 300 mails an hour, unless it is exempt, and repeated signups beyond that store none', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const name = randomUUID();
    // Earlier runs on the same server are counted too.
    const network = `2001:db8:${name.slice(0, 4)}`;
    const join = (index: number, from: string) =>
      service.api.post('/api/v1/signup', { waitlist_id: waitlist.id, email: `${name}-${index}@example.com` }, { from });
    const tried = () => mail.tried.filter((address) => address.startsWith(name)).length;

    await Promise.all(Array.from({ length: 305 }, (_, index) => join(index, `${network}:${index % 250}::1`)));
    await Promise.all(Array.from({ length: 3 }, (_, index) => join(1_000 + index, EXEMPT)));
    await allAreSent();

    expect(tried()).toBe(303);
    const stored = () => service.app.get(DataSource).getRepository(MailEntity).countBy({ waitlistId: waitlist.id });
    const before = await stored();
    await Promise.all(Array.from({ length: 305 }, (_, index) => join(index, `${network}:${index % 250}::1`)));
    expect(await stored()).toBe(before);
  });
});

describe('offboarding', () => {
  it('mails people their turn if the owner wants it, even beyond the bound of their mailbox', async () => {
    const settings = { verification: 'optional', mail_on_offboarding: true, mail_text: 'Verify!' } as const;
    const waitlist = await service.world.waitlist({
      ...settings,
      title: 'Launch',
      your_turn_url: 'https://app.example/start?a=1&b=2',
    });
    const silent = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    const bob = await service.world.signup(silent);
    for (let count = 1; count <= 5; count += 1) {
      await service.mailsTo(ada.email, count);
      await resend(waitlist.id, ada.email);
    }

    await service.world.offboardPeople(silent, bob);
    await service.world.offboardPeople(waitlist, ada);

    const { subject, text, html } = (await service.mailsTo(ada.email, 6)).at(-1)!;
    expect(subject).toBe('It’s your turn: Launch');
    expect(text).toContain('https://app.example/start?a=1&b=2');
    expect(text).not.toContain('Verify!');
    expect(parseHTML(html!).document.querySelector('a')!.getAttribute('href')).toBe(
      'https://app.example/start?a=1&b=2',
    );
    expect(countMailsTo(bob.email)).toBe(0);
  });

  it('tells people at their corrected email', async () => {
    const waitlist = await service.world.waitlist({ mail_on_offboarding: true });
    const ada = await service.world.signup(waitlist);
    mail.refuse(ada.email, 451);
    await service.world.offboardPeople(waitlist, ada);
    service.app.get(MailDispatcher).wake();
    await until(() => mail.tried.includes(ada.email));
    const email = newEmail();

    await patch(waitlist, ada, { email });

    const [{ subject }] = await ahead(LEASE_ENDED_MS, () => service.mailsTo(email));
    expect(subject).toContain('It’s your turn');
  });

  it('of many people delays no verification', async () => {
    const waitlist = await service.world.waitlist({ mail_on_offboarding: true });
    const slow = await service.world.signups(waitlist, CONNECTIONS_MAX);
    const others = await service.world.signups(waitlist, 2 * CONNECTIONS_MAX);
    const tried = (people: readonly Person[]) => people.filter(({ email }) => mail.tried.includes(email)).length;
    const offboardNext = (offboard_next: number) =>
      service.api.patch(
        '/api/v1/waiter',
        { api_key: waitlist.api_key, offboard_request: true, offboard_next },
        waitlist.owner,
      );
    for (const { email } of slow) mail.refuse(email, 'silence');
    await offboardNext(slow.length);
    service.app.get(MailDispatcher).wake();
    await until(() => tried(slow) === slow.length);
    await offboardNext(others.length);
    const ada = await service.world.signup(await service.world.waitlist({ verification: 'required' }));

    for (const { email } of slow) mail.accept(email);
    await until(() => mail.tried.includes(ada.email));

    expect(tried(others)).toBeLessThan(CONNECTIONS_MAX);
    await until(() => tried(others) === others.length);
  });
});

describe('a rush of mails', () => {
  const tried = (people: readonly Person[]) => people.filter(({ email }) => mail.tried.includes(email)).length;

  it.each([
    ['of another account', false],
    ['of another waitlist of the same account', true],
  ])('delays no mail %s', async (_, isSameAccount) => {
    const busy = await service.world.waitlist({ verification: 'required' });
    const slow = Array.from({ length: CONNECTIONS_MAX }, newEmail);
    for (const email of slow) mail.refuse(email, 'silence');
    await Promise.all(slow.map((email) => service.world.signup(busy, { email })));
    await until(() => slow.every((email) => mail.tried.includes(email)));
    const others = await service.world.signups(busy, 4 * CONNECTIONS_MAX);
    const waitlist = await service.world.waitlist({ verification: 'required' }, isSameAccount ? busy.owner : undefined);
    const ada = await service.world.signup(waitlist);

    for (const email of slow) mail.accept(email);
    await until(() => mail.tried.includes(ada.email));

    expect(tried(others)).toBeLessThan(2 * CONNECTIONS_MAX);
    await until(() => tried(others) === others.length);
  });
});

describe('the owner of a webhook', () => {
  it('is told by mail that the service turned it off', async () => {
    const waitlist = await service.world.waitlist({ title: 'Launch' });
    const url = 'https://1.1.1.1/hook?a=1&b=2';
    const { token, email, id } = waitlist.owner;
    const { body } = await service.api.post(`/api/v1/waitlist/${waitlist.id}/webhook`, { url }, { token });

    const query = service.app.get(MailStore).insertWebhookDisabled(waitlist.id, body.id, [id], new Date());
    await service.app.get(Database).one(query);

    const [{ subject, text }] = await service.mailsTo(email);
    expect(subject).toBe('Webhook turned off: Launch');
    expect(text).toContain(body.url);
    expect(text).toContain('https://example.com/lists/desk');
  });
});

describe('a mail server', () => {
  /**
   * For how many milliseconds the newest mail to a person waits for its next attempt. It resolves once the mail was
   * tried, and the result is stored.
   */
  async function deferral(waiterUuid: string): Promise<number> {
    service.app.get(MailDispatcher).wake();
    const mails = service.app.get(DataSource).getRepository(MailEntity);
    let waitMs = 0;
    await until(async () => {
      const { attempts, nextAttemptAt } = await mails.findOneOrFail({ where: { waiterUuid }, order: { id: 'DESC' } });
      waitMs = nextAttemptAt!.getTime() - Date.now();
      return attempts >= 1 && waitMs < 7 * SECOND_MS;
    });
    return waitMs;
  }

  it('that defers a recipient gets the mail again, on the schedule of the webhooks', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const email = newEmail();
    mail.refuse(email, 451);
    const { uuid } = await service.world.signup(waitlist, { email });
    const waitMs = await deferral(uuid);

    await ahead(waitMs - SECOND_MS, allAreSent);
    expect(mail.tried.filter((address) => address === email)).toHaveLength(1);
    await ahead(waitMs + SECOND_MS, allAreSent);
    expect(mail.tried.filter((address) => address === email)).toHaveLength(2);
    await ahead(3 * MINUTE_MS, allAreSent);
    expect(mail.tried.filter((address) => address === email)).toHaveLength(2);

    mail.accept(email);
    const [{ link }] = await ahead(7 * MINUTE_MS, () => service.mailsTo(email));
    expect((await click(link!)).status).toBe(303);
  });

  it('that rejects a recipient is not asked again', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const email = newEmail();
    mail.refuse(email, 550);
    await service.world.signup(waitlist, { email });
    await allAreSent();
    mail.accept(email);

    await ahead(HOUR_MS, allAreSent);

    expect(mail.tried.filter((address) => address === email)).toHaveLength(1);
  });

  it('that is silent about one recipient holds up no other', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const slow = newEmail();
    mail.refuse(slow, 'silence');
    await service.world.signup(waitlist, { email: slow });
    for (let index = 0; index < 4; index += 1) await resend(waitlist.id, slow);

    const people = await Promise.all(Array.from({ length: 20 }, () => service.world.signup(waitlist)));
    for (const { email } of people) await service.mailsTo(email);

    expect(countMailsTo(slow)).toBe(0);
    mail.accept(slow);
    await service.mailsTo(slow, 1);
  });

  it('that is away is tried now and then, while no attempt counts; once it is back, it gets one mail to each person', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    await mail.stop();
    let connections = 0;
    const away = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(mail.port, '127.0.0.1');
    await once(away, 'listening');
    const [ada, ...people] = await service.world.signups(waitlist, 60);
    for (let asked = 0; asked < 2; asked += 1) await service.world.signup(waitlist, { email: ada.email });
    await until(() => service.logged('the mail server is unavailable').length > 0);
    const mails = service.app.get(DataSource).getRepository(MailEntity);
    // Each keeps its place: it has been due since it was created.
    const wait = ({ status, attempts, attemptedAt, nextAttemptAt, createdAt }: MailEntity) =>
      status === 'dropped' || (attempts === 0 && attemptedAt === null && nextAttemptAt! <= createdAt);
    await until(async () => (await mails.findBy({ waitlistId: waitlist.id })).every(wait));
    // The first ten mails, each tried twice, and the probes.
    expect(connections).toBeLessThan(people.length);

    await once(away.close(), 'close');
    await mail.listen();

    for (const { email } of people) await mail.mailsTo(email);
    const link = await linkOf(ada.email);
    expect(service.logged('the mail server is available again')).toHaveLength(1);
    await ahead(20 * MINUTE_MS, allAreSent);
    expect(countMailsTo(ada.email)).toBe(1);
    expect((await click(link)).status).toBe(303);
  });

  it('has its attempts counted in the metrics, by outcome', async () => {
    const counts = async () =>
      Array.from(
        (await service.api.get('/metrics')).text.matchAll(/waitlist_mail_attempts_total\{outcome="\w+"\} (\d+)/g),
        ([, count]) => Number(count),
      );
    const before = await counts();
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const [deferred, rejected, flooded] = [newEmail(), newEmail(), randomUUID()];
    mail.refuse(deferred, 451);
    mail.refuse(rejected, 550);

    for (const email of [deferred, rejected]) await service.world.signup(waitlist, { email });
    for (let index = 0; index < 6; index += 1)
      await service.world.signup(waitlist, { email: `${flooded}+${index}@example.com` });

    expect(before).toHaveLength(4);
    await until(async () => (await counts()).every((count, index) => count > before[index]!));
    const { text } = await service.api.get('/metrics');
    expect(text).toMatch(/waitlist_mail_pending \d+/);
    expect(text).toMatch(/waitlist_mail_delay_seconds \d/);
  });
});
