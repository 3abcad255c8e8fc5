import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LANGUAGES } from '../../web/page/texts.js';
import type { Answer } from '../support/api.js';
import { MailServer } from '../support/mail-server.js';
import { documentOf, FORM, textOf } from '../support/page.js';
import { type Service, startService } from '../support/service.js';

let service: Service;
let mail: MailServer;
beforeAll(async () => {
  mail = await MailServer.start();
  service = await startService({ environment: { SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com' } });
  service.startTasks();
});
afterAll(async () => {
  await service.stop();
  await mail.stop();
});

const open = (path: string): Promise<Answer> => service.api.get(path);
const signUp = (waitlistId: number, fields: Readonly<Record<string, string>>): Promise<Answer> =>
  service.api.post('/api/v1/signup', undefined, {
    raw: new URLSearchParams({ waitlist_id: String(waitlistId), ...fields }).toString(),
    headers: FORM,
  });
const languageOf = (answer: Answer) => {
  const root = documentOf(answer).documentElement;
  return [root.getAttribute('lang'), root.getAttribute('dir')];
};

describe('a waitlist in German', () => {
  it('has German pages: its form, the faults beside its fields, the private page', async () => {
    const { id } = await service.world.waitlist({ lang: 'de' });

    const form = await open(`/waitlist/${id}`);
    const refused = await signUp(id, { email: 'nobody' });
    const joined = await signUp(id, { email: 'ada@example.com' });
    const place = await open(String(joined.headers.location));

    for (const page of [form, refused, place]) expect(languageOf(page)).toEqual(['de', 'ltr']);
    expect(textOf(form, '.waitlist-button')).toBe('In die Warteliste eintragen');
    expect(textOf(refused, 'title')).toMatch(/^Fehler: /);
    expect(textOf(refused, '.waitlist-summary strong')).toBe('Bitte prüfe deine Angaben');
    expect(textOf(refused, '#waitlist-email-fault')).toContain('Gib eine E-Mail-Adresse ein');
    expect(textOf(place, 'h1')).toBe('Du bist auf Platz 1');
  });

  it('has German pages where a link leads to nobody; those of a private waitlist tell nothing of it', async () => {
    const waitlist = await service.world.waitlist({ lang: 'de' });
    const [link, person] = ['verify/x', `status/${randomUUID()}`].map((path) => `/waitlist/${waitlist.id}/${path}`);

    const [expired, unknown] = [await open(link!), await open(person!)];
    await service.api.patch(`/api/v1/waitlist/${waitlist.id}`, { is_public: false }, { token: waitlist.owner.token });
    const hidden = [await open(link!), await open(person!)];

    expect([expired, unknown].map((page) => [page.status, ...languageOf(page), textOf(page, 'h1')])).toEqual([
      [404, 'de', 'ltr', 'Dieser Link ist nicht mehr gültig'],
      [404, 'de', 'ltr', 'Seite nicht gefunden'],
    ]);
    expect(hidden.map((page) => [page.status, ...languageOf(page), textOf(page, 'h1')])).toEqual([
      [404, 'en', 'ltr', 'This link doesn’t work anymore'],
      [404, 'en', 'ltr', 'Page not found'],
    ]);
  });

  it('has English errors in the API', async () => {
    const { id } = await service.world.waitlist({ lang: 'de' });

    const { body } = await service.api.post('/api/v1/signup', { waitlist_id: id, email: 'nobody' });

    expect([body.detail, body.errors]).toEqual([
      'email must be an email address',
      [{ field: 'email', rule: 'format', message: 'must be an email address' }],
    ]);
  });
});

it.each([
  ['of the catalog', { lang: 'de-AT' }, ['de', 'ltr'], 'In die Warteliste eintragen'],
  ['of the catalog', { lang: 'ar' }, ['ar', 'rtl'], 'الانضمام إلى قائمة الانتظار'],
  ['English without a catalog', { lang: 'sv' }, ['en', 'ltr'], 'Join the waitlist'],
  ['of the owner’s texts', { lang: 'sv', texts: { button: 'Ställ dig i kön' } }, ['sv', 'ltr'], 'Ställ dig i kön'],
  ['of the owner’s texts', { lang: 'he', texts: { button: 'הצטרפות' } }, ['he', 'rtl'], 'הצטרפות'],
  ['of Arabic with Latin digits', { lang: 'ar-u-nu-latn', texts: { button: 'انضم' } }, ['ar-u-nu-latn', 'rtl'], 'انضم'],
  ['of the owner’s texts', { lang: 'de-CH', texts: { button: 'Los' } }, ['de-CH', 'ltr'], 'Los'],
])('The language of a page is that %s: %j', async (_, settings, language, button) => {
  const { id } = await service.world.waitlist(settings);

  const page = await open(`/waitlist/${id}`);

  expect([languageOf(page), textOf(page, '.waitlist-button')]).toEqual([language, button]);
});

it.each([
  ['ja', ['last_name', 'first_name'], '名：必須項目です。'],
  ['zh-Hans', ['last_name', 'first_name'], '名字：此项必填。'],
  ['fr', ['first_name', 'last_name'], 'Prénom\u00a0: Ce champ est obligatoire.'],
])('Names and faults are written as the language does: %s', async (lang, names, fault) => {
  const { id } = await service.world.waitlist({
    lang,
    uses_firstname_lastname: true,
    required_contact: { first_name: 'required' },
  });

  const form = await open(`/waitlist/${id}`);
  const refused = await signUp(id, { email: 'ada@example.com' });

  const inputs = [...documentOf(form).querySelectorAll('.waitlist-field input')].map((input) =>
    input.getAttribute('name'),
  );
  expect(inputs.slice(0, 2)).toEqual(names);
  expect(textOf(refused, '.waitlist-summary li')).toBe(fault);
});

it('A page counts by the rules of its language', async () => {
  const waitlist = await service.world.waitlist({ lang: 'pl' });
  const seen = [];
  for (const count of [1, 1, 3, 17]) {
    await service.world.signups(waitlist, count);
    seen.push(textOf(await open(`/waitlist/${waitlist.id}`), '.waitlist-header .waitlist-note'));
  }

  expect(seen).toEqual([
    expect.stringContaining('1 osoba'),
    expect.stringContaining('2 osoby'),
    expect.stringContaining('5 osób'),
    expect.stringContaining('22 osoby'),
  ]);
});

it('A mail of a waitlist in Arabic is Arabic, and reads from right to left', async () => {
  const waitlist = await service.world.waitlist({ waitlist_name: 'Launch', lang: 'ar', verification: 'required' });
  const { email } = await service.world.signup(waitlist);

  const [{ subject, html, text }] = await mail.mailsTo(email);

  expect(subject).toBe('تأكيد بريدك الإلكتروني: Launch');
  const document = documentOf({ text: html! });
  expect(['lang', 'dir'].map((name) => document.documentElement.getAttribute(name))).toEqual(['ar', 'rtl']);
  for (const part of [text, document.body.textContent])
    for (const expected of ['لإكمال تسجيلك', 'تأكيد البريد الإلكتروني', '72 ساعة']) expect(part).toContain(expected);
});

it.each(LANGUAGES)('The texts of the widget are a file that pages of other origins may load: %s', async (language) => {
  const { status, headers, body } = await open(`/widget/texts/${language}.json`);

  expect([status, headers['content-type'], headers['access-control-allow-origin']]).toEqual([
    200,
    'application/json; charset=utf-8',
    '*',
  ]);
  expect(body).toMatchObject({ button: expect.any(String), place: expect.stringContaining('{place}') });
});
