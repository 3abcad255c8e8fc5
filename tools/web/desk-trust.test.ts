/** An owner decides who is verified, and which referrals count. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FrameLocator, Page } from 'playwright-core';
import { MailServer } from '../../test/support/mail-server.js';
import { call, checkPage, logIn, Stage } from './harness.js';

const TIMEOUT_MS = 10_000;
/** The worth of one referral. */
const PLACES = 3;

let stage: Stage;
let mail: MailServer;
before(async () => {
  mail = await MailServer.start();
  stage = await Stage.open({ SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com' });
});
after(async () => {
  await stage.close();
  await mail.stop();
});

async function open(path: string, on = stage): Promise<Page> {
  const page = await on.openPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await on.signIn(page, `/desk${path}`);
  return page;
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').getByText('Saved.').waitFor();
}

async function settings(id: number): Promise<Record<string, unknown>> {
  return call(stage.service, 'GET', `/api/v1/waitlist/${id}`, { token: await logIn(stage.service) });
}

async function join(waitlist_id: number, email: string, referral_link?: string): Promise<{ referral_link: string }> {
  return call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id, email, referral_link } });
}

/**
 * A waitlist of ten people; the last one has referred one person whose credit counts, and two whose credit is withheld.
 */
async function waitlistWithReferrer(): Promise<number> {
  const id = await stage.waitlist({ spots_to_move_upon_referral: PLACES });
  for (let person = 1; person < 10; person += 1) await join(id, `person-${person}@example.com`);
  const { referral_link } = await join(id, 'referrer@example.com');
  await join(id, 'friend@example.com', referral_link);
  for (const name of ['one', 'two']) await join(id, `${name}@mailinator.com`, referral_link);
  return id;
}

async function placeOf(id: number, email: string): Promise<number> {
  return Number((await stage.list(id, { search: email }))[0]?.priority) + 1;
}

/** The preview of the page of a person who has joined. */
async function openJoined(page: Page, address: string): Promise<FrameLocator> {
  await page.goto(address);
  await page.getByRole('combobox', { name: 'State' }).selectOption('Joined');
  return page.frameLocator('iframe[title="Preview"]');
}

test('the preview of a person who has joined has a way to leave, as their page has', async () => {
  const id = await stage.waitlist({ contact: 'hello@example.com' });
  const page = await open(`/${id}/settings/appearance`);
  const preview = await openJoined(page, page.url());
  await preview.locator('.waitlist-leave button').waitFor();
  assert.equal(await preview.getByText('hello@example.com').count(), 0);
  await page.context().close();
});

test('without mail, the desk says so and turns nothing on that needs it', async () => {
  const withoutMail = await Stage.open();
  try {
    const page = await open('/1/settings/trust', withoutMail);
    await page.getByText('This service sends no mail').waitFor();
    const guide = await page.getByRole('link', { name: 'how to set up mail' }).getAttribute('href');
    assert.match(guide ?? '', /docs\/configuration\.md#mail$/);
    const radios = ['Off', 'Optional', 'Required'].map((name) => page.getByRole('radio', { name, exact: true }));
    assert.deepEqual(await Promise.all(radios.map((radio) => radio.isDisabled())), [false, true, true]);
    await checkPage(page, 'desk-trust-without-mail');
    await page.getByRole('tab', { name: 'Mails' }).click();
    assert.equal(await page.getByLabel('Send a mail to people when they are let in').isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Send me a test' }).isDisabled(), true);
    await withoutMail.configure(1, { contact: 'hello@example.com' });
    const preview = await openJoined(page, `${withoutMail.service.url}/desk/1/settings/appearance`);
    await preview.getByText('hello@example.com').waitFor();
    assert.equal(await preview.locator('.waitlist-leave button').count(), 0);
  } finally {
    await withoutMail.close();
  }
});

test('where the mail server was taken away, the desk says what becomes of settings that need it', async () => {
  const mailing = await Stage.open({ SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com' });
  try {
    const required = await mailing.waitlist({ verification: 'required', mail_on_signup: true });
    const optional = await mailing.waitlist({ verification: 'optional', mail_on_offboarding: true });
    await mailing.service.interrupt();
    await mailing.service.resume({ SMTP_URL: '' });
    const page = await open(`/${required}/settings/mails`, mailing);

    await page.getByText('people who join get no place in the queue').waitFor();
    await page.getByText('Verification is required.').waitFor();
    assert.equal(await page.getByText('Turned on, but no mail goes out.').count(), 1);
    assert.equal(await page.getByText('Everybody who joins').count(), 0);
    await checkPage(page, 'desk-mails-server-gone');
    await page.getByLabel('Welcome people when they join').uncheck();
    await save(page);
    assert.equal(await page.getByLabel('Welcome people when they join').isDisabled(), true);

    await page.goto(`${mailing.service.url}/desk/${optional}/settings/trust`);
    await page.getByText('no referral of a new person counts').waitFor();
    assert.equal(await page.getByText('A mail asks new people').count(), 0);
    await checkPage(page, 'desk-trust-server-gone');
    await page.getByRole('tab', { name: 'Mails' }).click();
    await page.getByText('Verification is optional.').waitFor();
    assert.equal(await page.getByText('Sent together').count(), 0);
    await page.getByText('Turned on, but no mail goes out.').waitFor();
  } finally {
    await mailing.close();
  }
});

test('verification is turned on, and the desk says what becomes of those who joined before', async () => {
  const id = await stage.waitlist();
  for (const name of ['one', 'two']) await join(id, `${name}-before@example.com`);
  const page = await open(`/${id}/settings/trust`);
  await page.getByText('joined before').waitFor({ state: 'detached' });
  await page.getByLabel('Required').check();
  await page.getByText('2 people joined before').waitFor();
  await page.getByText('no mail goes out').waitFor();
  await checkPage(page, 'desk-trust-joined-before');
  await save(page);
  await checkPage(page, 'desk-trust');
  await join(id, 'ada@example.com');
  await mail.mailsTo('ada@example.com');
  assert.equal(mail.tried.filter((address) => address.includes('-before@')).length, 0);
  await page.context().close();
});

test('pending people have a list of their own, and join the queue once they are verified by hand', async () => {
  const id = await stage.waitlist({ verification: 'required' });
  await join(id, 'grace@example.com');
  const page = await open(`/${id}/people`);
  await page.getByText('Nobody is in line yet.').waitFor();
  await page.getByRole('radiogroup', { name: 'Status' }).getByText('Unconfirmed 1').click();
  await page.getByRole('row', { name: 'grace@example.com' }).waitFor();
  await checkPage(page, 'desk-trust-pending');
  await page.getByRole('row', { name: 'grace@example.com' }).click();
  const panel = page.getByRole('dialog');
  await panel.getByText('Joins the end of the line once the email is confirmed.').waitFor();
  await panel.getByRole('button', { name: 'Edit' }).click();
  await panel.getByLabel('Email confirmed').check();
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByText('Number 1', { exact: true }).waitFor();
  assert.equal(await placeOf(id, 'grace@example.com'), 1);
  await page.context().close();
});

test('a withheld referral is shown with its reasons; approved it moves the referrer, refused it does not', async () => {
  const id = await waitlistWithReferrer();
  const row = (name: string) => page.getByRole('row', { name: `${name}@mailinator.com` });
  const decide = async (name: string, act: string) => {
    await row(name).getByRole('checkbox').click();
    await page.getByRole('group', { name: 'Selected people' }).getByRole('button', { name: act }).click();
    await checkPage(page, `desk-trust-${act.toLowerCase()}`, { fullPage: false });
    await page.getByRole('dialog').getByRole('button', { name: act }).click();
    await row(name).waitFor({ state: 'detached' });
  };
  assert.equal(await placeOf(id, 'referrer@example.com'), 10 - PLACES);
  const page = await open(`/${id}/people`);
  await page.getByRole('radiogroup', { name: 'Status' }).getByText('Withheld 2').click();
  await page.locator('[role="grid"][aria-rowcount="3"]').waitFor();
  await page.getByText('a throwaway address').nth(1).waitFor();
  assert.equal(await page.getByRole('row').count(), 1 + 2);
  await row('one').getByRole('checkbox').click();
  await checkPage(page, 'desk-trust-withheld', { fullPage: false });
  await row('one').getByRole('checkbox').click();

  await decide('one', 'Approve');
  assert.equal(await placeOf(id, 'referrer@example.com'), 10 - 2 * PLACES);
  await decide('two', 'Refuse');
  assert.equal(await placeOf(id, 'referrer@example.com'), 10 - 2 * PLACES);
  await page.getByText('1 referral refused').waitFor();
  await page.getByText('No referral waits for you.').waitFor();

  await page
    .getByRole('radiogroup', { name: 'Status' })
    .getByText(/^In line/)
    .click();
  await page.getByLabel('Referrals', { exact: true }).selectOption('Referral refused');
  await row('two').click();
  const panel = page.getByRole('dialog').first();
  await panel.getByText('It does not count. Reasons: a throwaway address.').waitFor();
  await checkPage(page, 'desk-trust-person', { fullPage: false });
  await panel.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('dialog', { name: 'Approve this referral?' }).getByRole('button', { name: 'Approve' }).click();
  await panel.getByText('It counts.').waitFor();
  for (const event of ['Referral approved', 'Referral refused']) await panel.getByText(event).waitFor();
  assert.equal(await placeOf(id, 'referrer@example.com'), 1);
  await page.context().close();
});

test('all referrals of one person are refused at once, pending ones too, and the places move back', async () => {
  const id = await waitlistWithReferrer();
  const [{ referral_link } = {}] = await stage.list(id, { search: 'referrer@' });
  await stage.configure(id, { verification: 'required' });
  await join(id, 'late@example.com', String(referral_link));
  const page = await open(`/${id}/people?search=referrer`);
  await page.getByRole('row', { name: 'referrer@example.com' }).click();
  const panel = page.getByRole('dialog').first();
  await panel.getByText('1 referral × 3 places: 3 places forward').waitFor();
  await panel.getByText(/they referred.* not confirmed the email yet/).waitFor();
  await panel.getByText('late@example.com · Unconfirmed').waitFor();
  await panel.getByRole('button', { name: 'Refuse all referrals' }).click();
  const dialog = page.getByRole('dialog', { name: 'Refuse all referrals of this person?' });
  await dialog.getByText('referrer@example.com moves back by up to 3 places.').waitFor();
  await checkPage(page, 'desk-trust-refuse-all', { fullPage: false });
  await dialog.getByRole('button', { name: 'Refuse all' }).click();
  await page.getByText('4 referrals refused').waitFor();
  await panel.getByText('Number 10', { exact: true }).waitFor();
  assert.equal(await placeOf(id, 'referrer@example.com'), 10);
  await page.context().close();
});

test('the rules are turned off and changed, and a fault stands beside its rule', async () => {
  const id = await stage.waitlist();
  const page = await open(`/${id}/settings/trust`);
  await page.getByRole('switch', { name: 'Withhold referrals from throwaway addresses' }).press('Space');
  await page.getByRole('switch', { name: 'Rule: Seconds to fill in the form' }).press('Space');
  const rate = page.getByLabel('Referrals of one person within an hour', { exact: true });
  await rate.fill('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').getByText('some fields need your attention').waitFor();
  assert.equal(await rate.getAttribute('aria-invalid'), 'true');
  await checkPage(page, 'desk-trust-fault');
  await rate.fill('5');
  await save(page);
  assert.deepEqual((await settings(id)).fraud, {
    disposable_domains: null,
    same_mailbox: true,
    referrals_per_hour: 5,
    referrals_per_network_per_hour: 20,
    minimum_seconds: null,
  });
  await page.context().close();
});

test('the secret of a captcha is stored, kept when it is left empty, and never shown', async () => {
  const id = await stage.waitlist();
  const page = await open(`/${id}/settings/trust`);
  const answers: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/api/')) answers.push(response.text().catch(() => ''));
  });
  await page.getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('option', { name: 'Cloudflare Turnstile' }).click();
  await page.getByLabel('Site key').fill('the-site-key');
  const secret = page.getByRole('textbox', { name: 'Secret' });
  await secret.fill('the-hidden-secret');
  await save(page);
  await page.getByText('Leave it empty to keep the stored one.').waitFor();
  assert.equal(await secret.inputValue(), '');
  await page.getByLabel('Site key').fill('another-site-key');
  await page.getByText('It is stored encrypted, and never shown again.').waitFor();
  await page.getByLabel('Site key').fill('the-site-key');
  await page.getByLabel('Accept the signup as if the test was passed').check();
  await save(page);
  await checkPage(page, 'desk-trust-captcha');
  await page.reload();
  await page.getByText('Leave it empty to keep the stored one.').waitFor();
  assert.equal(await secret.inputValue(), '');
  assert.deepEqual((await settings(id)).captcha, {
    provider: 'turnstile',
    site_key: 'the-site-key',
    when_unavailable: 'accept',
  });
  assert.doesNotMatch((await Promise.all(answers)).join('\n'), /the-hidden-secret/);
  await page.context().close();
});

test('what waits for the owner shows on the overview and in the navigation; 30 are approved at once', async () => {
  const id = await stage.waitlist({ spots_to_move_upon_referral: PLACES, verification: 'optional' });
  const { referral_link } = await join(id, 'referrer@example.com');
  for (let friend = 1; friend <= 30; friend += 1) await join(id, `friend-${friend}@mailinator.com`, referral_link);
  // Whoever is let in, or not yet in line, waits for the decision too.
  await stage.letIn(id, 5);
  await stage.configure(id, { verification: 'required' });
  await join(id, 'late@mailinator.com', referral_link);

  const page = await open(`/${id}/overview`);
  const waiting = page.getByRole('region', { name: 'What waits' });
  await waiting.getByText('31 referrals wait for you').waitFor();
  await waiting.getByText('1 person has not confirmed the email yet').waitFor();
  await page.getByRole('link', { name: 'People 1 not confirmed 31 referrals wait for you' }).first().waitFor();
  await page.locator('.recharts-surface').first().waitFor();
  await checkPage(page, 'desk-waiting');
  await page.getByRole('link', { name: 'look at them' }).click();
  await page.getByRole('radiogroup', { name: 'Status' }).getByText('Withheld 31').waitFor();
  await page.locator('[role="grid"][aria-rowcount="32"]').waitFor();
  await page.getByRole('checkbox', { name: 'Select all loaded people' }).click();
  await page.getByRole('row', { name: 'friend-7@mailinator.com' }).getByRole('checkbox').click();
  const bar = page.getByRole('group', { name: 'Selected people' });
  await bar.getByText('30 selected').waitFor();
  // Four of them are let in already, and one is not in line yet.
  assert.deepEqual((await bar.getByRole('button').allTextContents()).slice(0, 3), ['Approve', 'Refuse', 'Let in 25']);
  await checkPage(page, 'desk-withheld-selected', { fullPage: false });
  await bar.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve the referrals of 30 people?' });
  await dialog.getByRole('button', { name: 'Approve 30 referrals' }).click();
  await page.getByText('30 referrals approved').waitFor();

  await page.locator('[role="grid"][aria-rowcount="2"] [role="row"]:focus').waitFor();
  await page.getByRole('link', { name: 'People 1 not confirmed 1 referral waits for you' }).first().waitFor();
  assert.equal((await stage.list(id, { credit: 'withheld' })).length, 1);
  await page.context().close();
});

test('all that a filter finds are selected and decided at once, more than are loaded', async () => {
  const id = await stage.waitlist();
  const lines = ['email,referral_token,referred_by,credit', 'referrer@example.com,FRST00000000,,'];
  for (let n = 1; n <= 250; n += 1) lines.push(`friend-${n}@example.com,,FRST00000000,withheld`);
  await stage.importCsv(id, lines);
  const page = await open(`/${id}/people?credit=withheld`);
  await page.getByRole('row').nth(1).waitFor();
  await page.getByRole('checkbox', { name: 'Select all loaded people' }).click();
  const bar = page.getByRole('group', { name: 'Selected people' });
  await bar.getByText('100 selected').waitFor();
  await bar.getByRole('button', { name: 'Select all that match' }).press('Enter');
  await bar.getByText('250 selected').and(page.locator(':focus')).waitFor();
  await checkPage(page, 'desk-all-selected', { fullPage: false });
  await bar.getByRole('button', { name: 'Refuse' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Refuse 250 referrals' }).click();
  await page.getByText('250 referrals refused').waitFor();
  await page.getByText('No referral waits for you.').waitFor();

  await page.getByRole('button', { name: 'Show everybody' }).click();
  await page.getByRole('row', { name: 'friend-1@example.com' }).waitFor();
  await page.getByRole('row', { name: 'friend-1@example.com' }).getByRole('checkbox').click();
  await page.getByRole('row', { name: 'friend-2@example.com' }).getByRole('checkbox').click();
  await bar.getByRole('button', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase 2 people?' });
  await checkPage(page, 'desk-erase-many', { fullPage: false });
  assert.equal(await dialog.getByRole('button', { name: 'Erase 2 people' }).isDisabled(), true);
  await dialog.getByLabel('Type 2 to confirm').fill('2');
  await dialog.getByRole('button', { name: 'Erase 2 people' }).click();
  await page.getByText('2 people erased').waitFor();
  await page.getByRole('row', { name: 'friend-1@example.com' }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('after letting people in, the desk says to whom the service writes, and to whom it does not', async () => {
  const id = await stage.waitlist({
    mail_on_offboarding: true,
    required_contact: { email: 'optional', phone: 'optional' },
  });
  await join(id, 'emailed@example.com');
  await join(id, 'also-emailed@example.com');
  await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: id, phone: '+4915123456789' } });
  await join(id, 'not-emailed@example.com');
  const page = await open(`/${id}/people`);
  const letNextIn = async (count: number, question: string, sentence: string) => {
    await page.getByRole('button', { name: 'Let next people in' }).click();
    await page.getByText(question).waitFor();
    await page.getByLabel('How many').fill(String(count));
    await page.getByRole('button', { name: /^Let \d+ (person|people) in$/ }).click();
    const result = page.getByRole('dialog', { name: /^\d+ (person|people) let in$/ });
    await result.getByText(sentence).waitFor();
    await checkPage(page, `desk-trust-let-in-${count}`, { fullPage: false });
    if (sentence.includes('phone')) {
      await result.getByRole('button', { name: 'Copy the phone' }).click();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), '+4915123456789');
    }
    await result.getByRole('button', { name: 'Done' }).click();
  };
  const isMailed = 'Everyone who gave an email gets a mail that it is their turn.';
  await letNextIn(1, isMailed, '1 mail is on its way.');
  await mail.mailsTo('emailed@example.com');
  await letNextIn(2, isMailed, '1 mail is on its way; 1 person has no email: copy their phone.');
  await stage.configure(id, { mail_on_offboarding: false });
  await page.reload();
  await letNextIn(1, 'No mail goes out', 'No mail went out.');
});
