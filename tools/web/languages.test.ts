/** What visitors read in each language, on the narrow screen of a phone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { MailServer } from '../../test/support/mail-server.js';
import { LANGUAGES } from '../../web/page/texts.js';
import { call, checkPage, logIn, type Site, Stage, startSite } from './harness.js';

const QUESTIONS = [
  { question_value: 'Where did you hear of us?', optional: true, answer_value: ['A friend', 'The news'] },
  { question_value: 'What will you build?', optional: false, answer_value: null },
];

/** The private page of somebody who has not confirmed their email, for each language. */
const pendingPages: { readonly language: string; readonly address: string }[] = [];

let stage: Stage;
let mail: MailServer;
let site: Site;
before(async () => {
  mail = await MailServer.start();
  stage = await Stage.open({
    SMTP_URL: mail.url,
    MAIL_FROM: 'launch@example.com',
    RATE_LIMIT_EXEMPT: '127.0.0.0/8,::1',
  });
  const { url } = stage.service;
  site = await startSite((path) => ({
    html: `<!doctype html>
<html lang="en">
  <head><title>Another site</title><meta name="viewport" content="width=device-width, initial-scale=1" />
    <script src="${url}/widget.js"></script></head>
  <body><main><h1>Another site</h1><waitlist-signup waitlist-id="${/\d+/.exec(path)?.[0] ?? ''}"></waitlist-signup></main></body>
</html>`,
    policy: `default-src 'none'; script-src ${url}; connect-src ${url}; base-uri 'none'`,
  }));
});
after(async () => {
  await Promise.all([site.stop(), mail.stop()]);
  await stage.close();
});

/** The texts that are wider or higher than their button, or stand beside the screen. */
const cutButtons = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const root = document.querySelector('waitlist-signup')?.shadowRoot ?? document;
    const buttons = [...root.querySelectorAll<HTMLElement>('button, .waitlist-button, .waitlist-networks a')];
    return buttons
      .filter((button) => {
        const { left, right } = button.getBoundingClientRect();
        const isWider = button.scrollWidth > button.clientWidth || button.scrollHeight > button.clientHeight;
        return isWider || left < 0 || right > innerWidth;
      })
      .map((button) => button.textContent);
  });

async function look(page: Page, language: string, name: string, root = 'html'): Promise<void> {
  await checkPage(page, `language-${language}-${name}`, { widths: [390], schemes: ['light'] });
  const shown = await page.locator(root).evaluate(({ lang, dir }: HTMLElement) => [lang, dir]);
  assert.deepEqual(shown, [language, language === 'ar' ? 'rtl' : 'ltr']);
  assert.deepEqual(await cutButtons(page), [], `${language}, ${name}: a button cuts its text`);
}

/** The page of an offer, and the private pages of those who get it: before, meanwhile, and after. */
async function lookAtOffers(page: Page, language: string, waitlistId: number): Promise<void> {
  const people = ['accept', 'decline'].map((answer) => `${answer}-${language}@example.com`);
  const join = (fields: object) =>
    call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: waitlistId, ...fields } });
  const signups: Record<string, unknown>[] = [];
  for (const email of people) signups.push(await join({ email }));
  const privatePages = signups.map(({ uuid }) => `${stage.service.url}/waitlist/${waitlistId}/status/${String(uuid)}`);
  await join({ email: `friend-${language}@example.com`, referral_link: signups[1]?.referral_link });
  await page.goto(privatePages[1]!);
  assert.equal(await page.locator('.waitlist-why li').count(), 2);
  await look(page, language, 'explained');
  const token = await logIn(stage.service);
  await call(stage.service, 'POST', `/api/v1/waitlist/${waitlistId}/offer`, { body: { count: people.length }, token });
  for (const [index, name] of ['accepted', 'declined'].entries()) {
    await page.goto(privatePages[index]!);
    await page.locator('.waitlist-resend').waitFor();
    await look(page, language, 'offered');
    const address = `${stage.service.url}${(await mail.mailsTo(people[index]!)).at(-1)?.offerLink ?? ''}`;
    await page.goto(address);
    await look(page, language, 'offer');
    await page.locator('.waitlist-answers button').nth(index).click();
    await page.locator('.waitlist-answers').waitFor({ state: 'detached' });
    await page.goto(address);
    await look(page, language, `offer-${name}`);
    await page.goto(privatePages[index]!);
    await look(page, language, name);
  }
}

for (const language of LANGUAGES)
  test(`the page and the widget can be read, and fit a phone: ${language}`, async () => {
    const settings = { waitlist_name: 'Launch', lang: language, uses_firstname_lastname: true, uses_leaderboard: true };
    const id = await stage.waitlist({
      ...settings,
      widget_shows_social_links: true,
      spots_to_move_upon_referral: 5,
      questions: QUESTIONS,
    });
    const friends = ['ADA000000000', 'GRACE0000000'].flatMap((token) =>
      Array.from({ length: 5 }, (_, n) => `${token}${n}@example.com,,,${token}`),
    );
    await stage.importCsv(id, [
      'email,first_name,referral_token,referred_by',
      'ada@example.com,Ada,ADA000000000,',
      'grace@example.com,Grace,GRACE0000000,',
      ...friends,
    ]);
    const [, grace] = await stage.list(id, { order: 'queue' });

    const page = await stage.openPage({ width: 390, origins: [site.url] });
    const { url } = stage.service;

    for (const [name, address, root] of [
      ['form', `${url}/waitlist/${id}`, 'html'],
      ['find', `${url}/waitlist/${id}/find`, 'html'],
      ['widget', `${site.url}/${id}`, '.waitlist-card'],
    ] as const) {
      await page.goto(address);
      await page.locator('.waitlist-button').click();
      await page.locator('.waitlist-summary').waitFor();
      await look(page, language, name, root);
    }
    await page.goto(`${url}/waitlist/${id}/status/${String(grace?.uuid)}`);
    await page.getByRole('heading', { name: /2/ }).waitFor();
    await look(page, language, 'joined');

    const unverified = await stage.waitlist({
      ...settings,
      verification: 'required',
      contact: 'https://example.com/help/waitlist?about=leaving',
    });
    const email = `${language}@example.com`;
    const { uuid } = await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: unverified, email } });
    await page.goto(`${url}/waitlist/${unverified}/status/${String(uuid)}`);
    await look(page, language, 'check-mail');
    pendingPages.push({ language, address: page.url() });
    const { link = '', leaveLink = '' } = (await mail.mailsTo(email)).at(-1) ?? {};
    await page.goto(`${url}${link}`);
    await look(page, language, 'verify');

    await page.goto(`${url}${leaveLink}`);
    await look(page, language, 'leave');
    const other = await stage.waitlist({ ...settings, verification: 'required' });
    const leaver = `leaver-${language}@example.com`;
    await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: other, email: leaver } });
    await page.goto(`${url}${(await mail.mailsTo(leaver)).at(-1)?.leaveLink ?? ''}`);
    await page.locator('.waitlist-button').click();
    await page.locator('.waitlist-message').waitFor();
    await look(page, language, 'left');
    await page.goto(`${url}/waitlist/${other}/leave/no-token`);
    await look(page, language, 'dead-link');
    await lookAtOffers(page, language, await stage.waitlist(settings));
    await page.context().close();
  });

test('the pages of a service that has lost its mail server fit a phone in every language', async () => {
  await stage.service.interrupt();
  await stage.service.resume({ SMTP_URL: '', MAIL_FROM: '' });
  const page = await stage.openPage({ width: 390 });
  for (const { language, address } of pendingPages) {
    await page.goto(address);
    await look(page, language, 'no-mail');
    assert.equal(await page.locator('form').count(), 0);
  }
  assert.equal(pendingPages.length, LANGUAGES.length);
  await stage.service.interrupt();
  await stage.service.resume();
});

test('the widget is English where the file of its language does not arrive', async () => {
  const id = await stage.waitlist({ lang: 'de' });
  const page = await stage.openPage({ width: 390, origins: [site.url] });
  const asked: string[] = [];
  await page.route('**/widget/texts/*', (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.abort();
  });
  await page.goto(`${site.url}/${id}`);

  await page.getByRole('button', { name: 'Join the waitlist' }).waitFor();
  assert.equal(await page.locator('.waitlist-card').getAttribute('lang'), 'en');
  assert.deepEqual(asked, ['/widget/texts/de.json']);
});
