import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseHTML } from 'linkedom';
import { DataSource } from 'typeorm';
import { MailDispatcher } from '../../src/mail/mail.dispatcher.js';
import { MailEntity } from '../../src/outbox/mail.entity.js';
import { WelcomeMailEntity } from '../../src/outbox/welcome-mail.entity.js';
import { BASE, type MailingService, startMailingService } from '../support/mailing-service.js';
import { pressButton } from '../support/page.js';
import { startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const PAGE = { waitlist_url_location: null, waitlist_name: 'Lumen' } as const;

let service: MailingService;
beforeAll(async () => {
  service = await startMailingService();
});
afterAll(() => service.stop());

/** Resolves once no mail of the waitlist waits, and returns the kinds of all that were stored for it, in order. */
async function kindsOf({ id }: OwnedWaitlist): Promise<string[]> {
  const mails = service.app.get(DataSource).getRepository(MailEntity);
  const welcomes = service.app.get(DataSource).getRepository(WelcomeMailEntity);
  service.app.get(MailDispatcher).wake();
  await until(async () => !(await welcomes.existsBy({ waitlistId: id })));
  await until(async () => !(await mails.existsBy({ waitlistId: id, status: 'pending' })));
  return (await mails.find({ where: { waitlistId: id }, order: { id: 'ASC' } })).map(({ kind }) => kind);
}

const click = (link: string | null) => pressButton(service.api, link!);
/** But for the one to leave, at the end of each. */
const linksIn = (html: string | undefined) =>
  [...parseHTML(html!).document.querySelectorAll('a')].flatMap((link) => {
    const url = link.getAttribute('href')!;
    return url.includes('/leave/') ? [] : url;
  });
const privatePage = (waitlist: OwnedWaitlist, { uuid }: Person) => `${BASE}/waitlist/${waitlist.id}/status/${uuid}`;
const change = (waitlist: OwnedWaitlist, settings: object) =>
  service.api.patch(`/api/v1/waitlist/${waitlist.id}`, settings, { token: waitlist.owner.token });
const preview = (waitlist: OwnedWaitlist, kind: string, token = waitlist.owner.token) =>
  service.api.get(`/api/v1/waitlist/${waitlist.id}/mail_preview`, { query: { kind }, token });
const test = (waitlist: OwnedWaitlist, kind: unknown) =>
  service.api.post(`/api/v1/waitlist/${waitlist.id}/mail_test`, { kind }, { token: waitlist.owner.token });

describe('mail_on_signup', () => {
  it('mails the place, the private page and the link to share, once, and no name of an unverified person', async () => {
    const waitlist = await service.world.waitlist({ ...PAGE, mail_on_signup: true, lang: 'de' });
    await service.world.signup(waitlist);
    const ada = await service.world.signup(waitlist, { first_name: 'Wilhelmina' });

    const [{ subject, text, html }] = await service.mailsTo(ada.email);

    expect(subject).toBe('Du stehst auf der Liste: Lumen');
    expect(text).toContain('Du bist auf Platz 2 der Warteliste.');
    expect(new Set(linksIn(html))).toEqual(new Set([privatePage(waitlist, ada), ada.referral_link]));
    expect(html).not.toContain('Wilhelmina');
    await service.world.signup(waitlist, { email: ada.email });
    expect(await kindsOf(waitlist)).toEqual(['welcome', 'welcome']);
  });

  it('mails a person who must confirm after the click, with the name', async () => {
    const waitlist = await service.world.waitlist({ ...PAGE, mail_on_signup: true, verification: 'required' });
    const ada = await service.world.signup(waitlist, { first_name: 'Ada' });
    const [{ text: asked, link }] = await service.mailsTo(ada.email);
    expect(asked).not.toContain(ada.uuid);

    await click(link);

    const { subject, text } = (await service.mailsTo(ada.email, 2))[1]!;
    expect(subject).toBe('You’re on the list: Lumen');
    expect(text).toMatch(
      /Hello Ada,\s+You’re number 1 on the waitlist\.\s+Each friend who joins moves you up 3 places\./,
    );
    await click(link);
    expect(await kindsOf(waitlist)).toEqual(['verification', 'welcome']);
  });

  it('is one mail with the verification that a waitlist does not require; a repeated signup is asked only', async () => {
    const waitlist = await service.world.waitlist({ ...PAGE, mail_on_signup: true, verification: 'optional' });
    const ada = await service.world.signup(waitlist, { first_name: 'Wilhelmina' });

    const [{ subject, text, html, link }] = await service.mailsTo(ada.email);

    expect(subject).toBe('You’re on the list: Lumen');
    expect(text).toMatch(/^Lumen\s+Hello,\s+You’re number 1 on the waitlist\.[^]*Please confirm your email address\./);
    expect(html).not.toContain('Wilhelmina');
    // The note is about the first link alone.
    expect(text).toContain(`Confirm email:\n${BASE}${link}\n\nThe link works for 72 hours.`);
    expect(html!.indexOf('72 hours')).toBeLessThan(html!.indexOf(privatePage(waitlist, ada)));
    const urls = [`${BASE}${link}`, privatePage(waitlist, ada), ada.referral_link];
    expect(new Set(linksIn(html))).toEqual(new Set(urls));
    await service.world.signup(waitlist, { email: ada.email });
    const again = (await service.mailsTo(ada.email, 2))[1]!;
    expect(again.text).not.toContain(ada.uuid);
    expect((await click(link)).status).toBe(303);
    expect(await kindsOf(waitlist)).toEqual(['signup', 'verification']);
  });

  it('mails nobody who was imported, nor again when somebody is let in', async () => {
    const waitlist = await service.world.waitlist({ ...PAGE, mail_on_signup: true });
    const { status } = await service.api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, {
      token: waitlist.owner.token,
      raw: `email\n${randomUUID()}@example.com\n`,
      headers: { 'content-type': 'text/csv' },
    });
    expect(status).toBeLessThan(300);
    const ada = await service.world.signup(waitlist);
    await service.mailsTo(ada.email);

    await service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);

    expect(await kindsOf(waitlist)).toEqual(['welcome']);
  });

  it('mails one mailbox no more than five times an hour, over all waitlists', async () => {
    const name = randomUUID();
    const waitlist = await service.world.waitlist({ ...PAGE, mail_on_signup: true });
    for (let index = 0; index < 7; index += 1)
      await service.world.signup(waitlist, { email: `${name}+${index}@example.com` });

    await kindsOf(waitlist);

    expect(service.mail.tried.filter((address) => address.startsWith(name))).toHaveLength(5);
  });
});

describe('the words of a mail', () => {
  it('stand between the greeting and the button, with their values, in text and HTML alike', async () => {
    const waitlist = await service.world.waitlist({
      ...PAGE,
      title: 'Lumen <b>&',
      mail_on_signup: true,
      verification: 'required',
      mails: {
        verification: { subject: '{waitlist_name}?', text: '{place}|{link}' },
        welcome: { subject: '{first_name}: {place}', text: '{waitlist_name}\n{link}\n\n{first_name} {{place}} {}' },
      },
    });
    const ada = await service.world.signup(waitlist, { first_name: '<i>Ada</i>' });

    const [asked] = await service.mailsTo(ada.email);
    expect(asked.subject).toBe('Lumen <b>&?');
    // A pending person has no place yet.
    expect(asked.text).toContain(`Hello,\n\n|${BASE}${asked.link}\n\nConfirm email:`);
    await click(asked.link);
    const { subject, text, html } = (await service.mailsTo(ada.email, 2))[1]!;

    expect(subject).toBe('<i>Ada</i>: 1');
    const page = privatePage(waitlist, ada);
    expect(text).toContain(`Hello <i>Ada</i>,\n\nLumen <b>&\n${page}\n\n<i>Ada</i> {1} {}\n\nSee my place:\n${page}`);
    const { document } = parseHTML(html!);
    expect(document.querySelector('i, b')).toBeNull();
    expect(document.body.textContent).toContain('<i>Ada</i> {1} {}');
  });

  it('that were stored before placeholders were known stay as they are', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required', mail_text: 'Hello' });
    await service.app
      .get(DataSource)
      .query(`UPDATE waitlist_mail SET text = 'Dear {first_name} {reader}' WHERE waitlist_id = ?`, [waitlist.id]);

    const saved = await change(waitlist, { mail_text: 'Dear {first_name} {reader}', mail_subject: 'New' });
    const ada = await service.world.signup(waitlist);

    expect(saved.status).toBe(200);
    expect((await service.mailsTo(ada.email))[0].text).toContain('Dear {first_name} {reader}');
  });

  it('tell people that it is their turn, by name if they have confirmed', async () => {
    const waitlist = await service.world.waitlist({
      ...PAGE,
      verification: 'optional',
      mail_on_offboarding: true,
      your_turn_url: 'https://app.example/start',
      mails: { your_turn: { subject: 'In, {first_name}', text: 'Start at {link}{place}.' } },
    });
    const [ada, bob] = [
      await service.world.signup(waitlist, { first_name: 'Ada' }),
      await service.world.signup(waitlist, { first_name: 'Bob' }),
    ];
    await click((await service.mailsTo(ada.email))[0].link);
    await service.mailsTo(bob.email);

    for (const person of [ada, bob])
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, person)]);

    const [toAda, toBob] = [(await service.mailsTo(ada.email, 2))[1]!, (await service.mailsTo(bob.email, 2))[1]!];
    expect([toAda.subject, toBob.subject?.trim()]).toEqual(['In, Ada', 'In,']);
    expect(toAda.text).toContain('Hello Ada,\n\nStart at https://app.example/start.');
    expect(toBob.text).toContain('Hello,\n\nStart at');
  });
});

describe('the preview of a mail', () => {
  it('shows each kind with invented values in the language of the waitlist, and no link to a person', async () => {
    const waitlist = await service.world.waitlist({
      ...PAGE,
      lang: 'ar',
      verification: 'required',
      mails: { welcome: { text: '{first_name} {place} {link}' } },
    });

    const shown = await Promise.all(
      ['verification', 'welcome', 'offer', 'your_turn'].map((kind) => preview(waitlist, kind)),
    );

    expect(shown.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const { body } of shown) {
      const { document } = parseHTML(body.html);
      expect([document.documentElement.getAttribute('lang'), document.documentElement.getAttribute('dir')]).toEqual([
        'ar',
        'rtl',
      ]);
      expect(body.text).toContain('Lumen');
    }
    expect(shown[1]!.body.text).toMatch(new RegExp(`Ada [5٥] ${BASE}/waitlist/${waitlist.id}`));
  });

  it('is refused for another kind, a stranger and an unknown waitlist', async () => {
    const waitlist = await service.world.waitlist();
    const stranger = await service.world.owner();

    for (const kind of ['offer_reminder', 'test', ''])
      expect((await preview(waitlist, kind)).body.errors).toMatchObject([{ field: 'kind', rule: 'one_of' }]);
    expect((await preview(waitlist, 'welcome', stranger.token)).body.error_code).toBe('WAITLIST_NOT_FOUND');
  });
});

describe('a test mail', () => {
  it('goes to the caller alone', async () => {
    const waitlist = await service.world.waitlist(PAGE);
    const { email, token } = await service.world.member(waitlist.owner, 'editor');

    const path = `/api/v1/waitlist/${waitlist.id}/mail_test`;
    expect((await service.api.post(path, { kind: 'welcome' }, { token })).status).toBe(202);

    const [{ to }] = await service.mailsTo(email);
    expect(to).toHaveLength(1);
    expect(service.mail.tried).not.toContain(waitlist.owner.email);
  });

  it('is sent at most ten times an hour', async () => {
    const waitlist = await service.world.waitlist({ ...PAGE, mails: { your_turn: { subject: 'Come in' } } });

    const statuses = [];
    for (let index = 0; index < 11; index += 1) statuses.push((await test(waitlist, 'your_turn')).status);

    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 202), 429]);
    for (const { subject, to } of await service.mailsTo(waitlist.owner.email, 10))
      expect([subject, to.length]).toEqual(['Come in', 1]);
  });

  it('is refused for an account key, another kind, and by a service that sends no mail', async () => {
    const waitlist = await service.world.waitlist();
    const { body: key } = await service.api.post(
      '/api/v1/api_key',
      { name: 'Key', scope: 'manage' },
      { token: waitlist.owner.token },
    );
    const byKey = await service.api.post(
      `/api/v1/waitlist/${waitlist.id}/mail_test`,
      { kind: 'welcome' },
      { headers: { 'api-key': key.key } },
    );
    expect([byKey.status, byKey.body.error_code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect((await test(waitlist, 'signup')).body.errors).toMatchObject([{ field: 'kind', rule: 'one_of' }]);

    const silent = await startService();
    const owned = await silent.world.waitlist();
    const { status, body } = await silent.api.post(
      `/api/v1/waitlist/${owned.id}/mail_test`,
      { kind: 'welcome' },
      { token: owned.owner.token },
    );
    await silent.stop();
    expect([status, body.errors]).toMatchObject([422, [{ field: 'kind' }]]);
  });
});
