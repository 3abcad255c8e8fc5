/**
 * What page and widget do against false signups: verification by a real mail, captcha, and the fields that people do
 * not see.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { CAPTCHA_SECRET, CaptchaProviderStandIn } from '../../test/support/captcha-provider.js';
import { MailServer } from '../../test/support/mail-server.js';
import { CHECKBOX, serveCaptchas, STAND_INS } from './captcha.js';
import { call, checkPage, type Site, Stage, startSite } from './harness.js';

const PROVIDERS = ['turnstile', 'hcaptcha'] as const;
const ORIGINS = Object.values(STAND_INS).flatMap(({ origins }) => origins);

let stage: Stage;
let mail: MailServer;
let captchas: CaptchaProviderStandIn;
let site: Site;

before(async () => {
  [mail, captchas] = await Promise.all([MailServer.start(), CaptchaProviderStandIn.start()]);
  const environment = { SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com', CAPTCHA_VERIFY_URL: captchas.url };
  // One person asks for all mails of this file.
  stage = await Stage.open({ ...environment, RATE_LIMIT_EXEMPT: '127.0.0.0/8,::1' });
  const { url } = stage.service;
  const allowed = `${ORIGINS.join(' ')} https://*.hcaptcha.com`;
  site = await startSite((path) => ({
    html: `<!doctype html>
<html lang="en">
  <head><title>Another site</title><meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" /><script src="${url}/widget.js"></script></head>
  <body><main><h1>Another site</h1><waitlist-signup waitlist-id="${/\d+/.exec(path)?.[0] ?? ''}"></waitlist-signup></main></body>
</html>`,
    policy: ['script', 'frame', 'style', 'connect'].map((kind) => `${kind}-src ${url} ${allowed}`).join('; '),
  }));
});
after(async () => {
  await Promise.all([site.stop(), mail.stop(), captchas.stop()]);
  await stage.close();
});

const captchaOf = (provider: (typeof PROVIDERS)[number]) => ({
  provider,
  site_key: 'the-site-key',
  secret: CAPTCHA_SECRET,
});
const pageOf = (id: number) => `${stage.service.url}/waitlist/${id}`;
const widgetOf = (id: number) => `${site.url}/${id}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

async function open(address: string, options: Parameters<Stage['openPage']>[0] = {}): Promise<Page> {
  const page = await stage.openPage({ origins: [site.url, ...ORIGINS], ...options });
  await page.goto(address);
  return page;
}

/** The name of the input that has the focus, within the widget too. */
async function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const outer = document.activeElement;
    return (outer?.shadowRoot?.activeElement ?? outer)?.getAttribute('name') ?? '';
  });
}

/** Ticks the captcha. Its token reaches the form by a message from the frame. */
async function passCaptcha(page: Page): Promise<void> {
  await page.frameLocator('iframe').getByLabel(CHECKBOX).check();
  await page.locator('[name=captcha_token][value^=good]').waitFor({ state: 'attached' });
}

/** Opens the newest link in the mails to an address, and presses its button. */
async function confirm(page: Page, email: string, name: string): Promise<void> {
  const link = (await mail.mailsTo(email)).at(-1)?.link ?? '';
  await page.goto(`${stage.service.url}${link}`);
  await heading(page, 'Confirm your email').waitFor();
  if (name !== '') await checkPage(page, name);
  await button(page, 'Confirm email').click();
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts';
  const look = async (page: Page, name: string) => (javaScriptEnabled ? checkPage(page, name) : undefined);

  test(`the page leads by a mail to the place in line, ${how}`, async () => {
    const id = await stage.waitlist({ verification: 'required' });
    const email = `ada-${javaScriptEnabled}@example.com`;
    const page = await open(pageOf(id), { javaScriptEnabled });
    await page.getByLabel('Email').fill(email);
    await button(page, 'Join the waitlist').click();

    await heading(page, 'Check your email').waitFor();
    // Only the browser knows the address, and only in this tab.
    const typed = (shown: Page) => shown.getByText(`You entered \u2066${email}\u2069.`).isVisible();
    assert.equal(await typed(page), javaScriptEnabled);
    assert.equal(await typed(await open(page.url(), { javaScriptEnabled })), false);
    await look(page, 'page-check-mail');
    await mail.mailsTo(email);
    await button(page, 'Send it again').click();
    await page.getByText('A link is on its way.').waitFor();
    await look(page, 'page-check-mail-again');
    await mail.mailsTo(email, 2);
    assert.equal((await stage.list(id)).length, 0);
    const privatePage = page.url();
    await confirm(page, email, javaScriptEnabled ? 'page-verify' : '');

    await heading(page, 'You’re number 1').waitFor();
    assert.equal(page.url(), privatePage.replace(/\?.*/, ''));
    await page.getByText('Your email is confirmed.').waitFor();
    if (javaScriptEnabled) assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await look(page, 'page-verified');
    assert.deepEqual(
      (await stage.list(id)).map((person) => [person.email, person.verified]),
      [[email, true]],
    );
  });
}

test('a person leaves by the link that the private page mails, at the width of a phone', async () => {
  const id = await stage.waitlist({});
  const page = await open(pageOf(id));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByLabel('Email').fill('leaver@example.com');
  await button(page, 'Join the waitlist').click();
  await heading(page, 'You’re number 1').waitFor();
  await button(page, 'Leave the waitlist').click();
  await page.getByText('We sent you a link to leave.').waitFor();
  await checkPage(page, 'page-leave-sent');
  const [{ leaveLink }] = await mail.mailsTo('leaver@example.com');
  assert.equal((await stage.list(id)).length, 1);

  await page.goto(`${stage.service.url}${leaveLink}`);
  await heading(page, 'Leave the waitlist').waitFor();
  await checkPage(page, 'page-leave');
  await button(page, 'Leave the waitlist').click();

  await heading(page, 'You’re off the list').waitFor();
  await checkPage(page, 'page-left');
  assert.equal((await stage.list(id)).length, 0);
});

test('a link that does not work any more leads back to the form, in the owner’s look and words', async () => {
  const id = await stage.waitlist({
    verification: 'required',
    title: 'Join the garden',
    configuration_style_json: { widget_button_color: '#1f6f50', widget_background_color: '#fff8e7' },
    texts: { link_not_found_button: 'Back to the garden' },
  });
  const page = await open(`${pageOf(id)}/verify/no-token`);

  await heading(page, 'This link doesn’t work anymore').waitFor();
  await checkPage(page, 'page-link-not-found');
  await page.getByRole('link', { name: 'Back to the garden' }).click();
  await heading(page, 'Join the garden').waitFor();
});

test('the widget asks to check the mail, and sends it again', async () => {
  const id = await stage.waitlist({ verification: 'required' });
  const page = await open(widgetOf(id));
  await page.getByLabel('Email').fill('widget@example.com');
  await button(page, 'Join the waitlist').click();

  await heading(page, 'Check your email').waitFor();
  await page.getByText('You entered \u2066widget@example.com\u2069.').waitFor();
  await checkPage(page, 'widget-check-mail');
  await mail.mailsTo('widget@example.com');
  await button(page, 'Send it again').click();
  await page.getByText('A link is on its way.').waitFor();
  await mail.mailsTo('widget@example.com', 2);
  const other = await open('about:blank');
  await confirm(other, 'widget@example.com', '');
  await heading(other, 'You’re number 1').waitFor();
  // Whoever comes back to the widget sees the place too.
  await page.reload();
  await page.getByLabel('Email').fill('widget@example.com');
  await button(page, 'Join the waitlist').click();
  await heading(page, 'You’re number 1').waitFor();
  await page.getByText('Your email is confirmed.').waitFor();
});

for (const [where, addressOf] of Object.entries({ page: pageOf, widget: widgetOf }))
  test(`the ${where} says that the service sends no mail, and claims none`, async () => {
    const id = await stage.waitlist({ verification: 'required' });
    await stage.service.interrupt();
    await stage.service.resume({ SMTP_URL: '', MAIL_FROM: '' });
    const page = await open(addressOf(id));
    await page.getByLabel('Email').fill('ada@example.com');
    await button(page, 'Join the waitlist').click();

    await heading(page, 'Your signup isn’t complete yet').waitFor();
    await page.getByText('we can’t send any email right now').waitFor();
    await page.getByText('You entered \u2066ada@example.com\u2069.').waitFor();
    assert.equal(await page.getByRole('button').count(), 0);
    assert.equal(await page.getByText('We sent you a link').count(), 0);
    await checkPage(page, `${where}-no-mail`);
    await stage.service.interrupt();
    await stage.service.resume();
  });

test('a tab that signs up two people shows each their own address', async () => {
  const id = await stage.waitlist({ verification: 'required' });
  const page = await open(pageOf(id));
  const pages: string[] = [];
  for (const email of ['ada@example.com', 'grace@example.com']) {
    await page.goto(pageOf(id));
    await page.getByLabel('Email').fill(email);
    await button(page, 'Join the waitlist').click();
    await heading(page, 'Check your email').waitFor();
    await page.getByText(`You entered \u2066${email}\u2069.`).waitFor();
    pages.push(page.url());
  }
  await page.goto(pages[0]!);
  await page.getByText('You entered \u2066ada@example.com\u2069.').waitFor();

  // An attempt that is refused leads to nobody.
  const { uuid } = await call(stage.service, 'POST', '/api/v1/signup', {
    body: { waitlist_id: id, email: 'alan@example.com' },
  });
  await page.goto(pageOf(id));
  await page.getByLabel('Email').fill('no email');
  await button(page, 'Join the waitlist').click();
  await page.locator('.waitlist-summary').waitFor();
  await page.goto(`${pageOf(id)}/status/${String(uuid)}`);
  await heading(page, 'Check your email').waitFor();
  assert.equal(await page.getByText('You entered').isVisible(), false);
});

for (const [where, addressOf] of Object.entries({ page: pageOf, widget: widgetOf }))
  test(`the ${where} shows the place at once where verification is optional, and asks for it`, async () => {
    const id = await stage.waitlist({ verification: 'optional' });
    const email = `optional-${where}@example.com`;
    const page = await open(addressOf(id));
    await page.getByLabel('Email').fill(email);
    await button(page, 'Join the waitlist').click();

    await heading(page, 'You’re number 1').waitFor();
    await page.getByText('Please confirm your email').waitFor();
    await checkPage(page, `${where}-unverified`);
    await mail.mailsTo(email);
    await button(page, 'Send me a link').click();
    await page.getByText('A link is on its way.').waitFor();
    await mail.mailsTo(email, 2);
    await confirm(page, email, '');
    await page.getByText('Your email is confirmed.').waitFor();
  });

for (const [where, addressOf] of Object.entries({ page: pageOf, widget: widgetOf })) {
  for (const provider of PROVIDERS)
    test(`the ${where} has the captcha of ${provider}, and joins with its token`, async () => {
      // Its texts are those of the language, English.
      const id = await stage.waitlist({ captcha: captchaOf(provider), lang: 'en-GB' });
      const page = await stage.openPage({ origins: [site.url, ...ORIGINS], colorScheme: 'dark' });
      const requests = await serveCaptchas(page.context());
      await page.goto(addressOf(id));
      const checkbox = page.frameLocator('iframe').getByLabel(CHECKBOX);
      await checkbox.waitFor();
      const [options] = (await page.evaluate(`${provider}.options()`)) as Record<string, unknown>[];
      assert.deepEqual(
        [options?.sitekey, options?.theme, options?.size, options?.language, options?.hl],
        ['the-site-key', 'dark', 'normal', 'en', 'en'],
      );
      await page.getByLabel('Email').fill('ada@example.com');
      await button(page, 'Join the waitlist').click();

      const fault = page.getByText('Please complete this check.');
      await fault.first().waitFor();
      assert.equal(await fault.count(), 2);
      await checkbox.waitFor();
      await checkPage(page, `${where}-${provider}`);
      await passCaptcha(page);
      await button(page, 'Join the waitlist').click();
      await heading(page, 'You’re number 1').waitFor();
      assert.equal(requests[provider], where === 'page' ? 2 : 1);
      assert.equal(await page.locator('iframe').count(), 0);
      assert.match(String(captchas.asked.at(-1)?.response), /^good-/);
    });

  test(`the ${where} says that its captcha cannot be loaded`, async () => {
    const id = await stage.waitlist({ captcha: captchaOf('turnstile') });
    const page = await stage.openPage({ origins: [site.url, ...ORIGINS] });
    await page.route(`${STAND_INS.turnstile.script}*`, (route) => route.abort('blockedbyclient'));
    await page.goto(addressOf(id));

    await page.getByText('The security check can’t be loaded.').waitFor();
    await checkPage(page, `${where}-captcha-away`);
  });

  test(`the ${where} has a compact captcha on a narrow screen`, async () => {
    const id = await stage.waitlist({ captcha: captchaOf('turnstile') });
    const page = await stage.openPage({ origins: [site.url, ...ORIGINS] });
    await serveCaptchas(page.context());
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(addressOf(id));
    await page.frameLocator('iframe').getByLabel(CHECKBOX).waitFor();

    const [options] = (await page.evaluate('turnstile.options()')) as Record<string, unknown>[];
    assert.equal(options?.size, 'compact');
  });

  test(`the ${where} tells when its form was opened, and has a field that people cannot reach`, async () => {
    const id = await stage.waitlist();
    const page = await open(addressOf(id));
    await page.getByLabel('Email').waitFor();
    const website = page.locator('[name=website]');
    assert.equal(await website.count(), 1);
    assert.equal(await website.isVisible(), false);
    // By keyboard: the email, the phone, the button.
    const names: string[] = [];
    for (let presses = 0; presses < 4; presses += 1) {
      await page.keyboard.press('Tab');
      names.push(await focused(page));
    }
    assert.deepEqual(names.slice(0, 3), ['email', 'phone', '']);
    assert.equal(names.includes('website'), false);
    assert.doesNotMatch(await page.locator('main').ariaSnapshot(), /Leave this empty/);
    await page.getByLabel('Email').fill('ada@example.com');
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'POST' && new URL(sent.url()).pathname === '/api/v1/signup'),
      button(page, 'Join the waitlist').click(),
    ]);

    const sent =
      where === 'page'
        ? Object.fromEntries(new URLSearchParams(request.postData() ?? ''))
        : (request.postDataJSON() as Record<string, unknown>);
    assert.equal(sent.website, '');
    const openedMsAgo = Date.now() - Date.parse(String(sent.form_opened_at));
    assert.ok(openedMsAgo > 0 && openedMsAgo < 60_000, String(sent.form_opened_at));
    assert.equal('captcha_token' in sent, false);
    await heading(page, 'You’re number 1').waitFor();
  });

  test(`the ${where} withholds the credit of what a program fills, and answers it as any other`, async () => {
    const id = await stage.waitlist({ fraud: { minimum_seconds: null } });
    const referrer = await call(stage.service, 'POST', '/api/v1/signup', {
      body: { waitlist_id: id, email: 'ada@example.com' },
    });
    const page = await open(`${addressOf(id)}?ref_id=${String(referrer.referral_token)}`);
    await page.getByLabel('Email').fill('program@example.com');
    await page
      .locator('[name=website]')
      .evaluate((input) => ((input as HTMLInputElement).value = 'https://example.com'));
    await button(page, 'Join the waitlist').click();

    await heading(page, 'You’re number 2').waitFor();
    const [, program] = await stage.list(id);
    assert.deepEqual([program?.credit, program?.credit_reasons], ['withheld', ['honeypot']]);
  });
}

test('the widget shows the captcha that its owner turns on while somebody types', async () => {
  const id = await stage.waitlist();
  const page = await stage.openPage({ origins: [site.url, ...ORIGINS] });
  const requests = await serveCaptchas(page.context());
  await page.goto(widgetOf(id));
  await page.getByLabel('Email').fill('ada@example.com');
  assert.deepEqual(requests, { turnstile: 0, hcaptcha: 0 });
  await stage.configure(id, { captcha: captchaOf('turnstile') });
  await button(page, 'Join the waitlist').click();

  await passCaptcha(page);
  await button(page, 'Join the waitlist').click();
  await heading(page, 'You’re number 1').waitFor();
});

test('the page says that its captcha needs JavaScript', async () => {
  const id = await stage.waitlist({ captcha: captchaOf('hcaptcha') });
  const page = await open(pageOf(id), { javaScriptEnabled: false });

  // With scripts, there are no elements in it.
  assert.match((await page.locator('noscript p').textContent()) ?? '', /needs JavaScript/);
});
