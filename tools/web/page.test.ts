/** The hosted page by clicks, with scripts and without. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { call, checkPage, Stage } from './harness.js';

const QUESTIONS = [
  { question_value: 'Where did you hear of us?', optional: true, answer_value: ['A friend', 'The news'] },
  { question_value: 'What will you build?', optional: false, answer_value: null },
];

let stage: Stage;

before(async () => {
  stage = await Stage.open();
});
after(() => stage.close());

const addressOf = (id: number) => `${stage.service.url}/waitlist/${id}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const join = (waitlist_id: number, fields: object) =>
  call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id, ...fields } });

async function open(address: string, options: Parameters<Stage['openPage']>[0] = {}): Promise<Page> {
  const page = await stage.openPage(options);
  await page.goto(address);
  return page;
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts';

  test(`leads from a friend’s link to a link of one’s own, ${how}`, async () => {
    // The test types faster than people do.
    const fraud = { minimum_seconds: null };
    const id = await stage.waitlist({ uses_leaderboard: true, uses_firstname_lastname: true, fraud });
    const friend = await join(id, { email: 'ada@example.com', first_name: 'Ada' });
    const page = await open(friend.referral_link as string, { javaScriptEnabled });
    await page.getByLabel('First name').fill('Grace');
    await page.getByLabel('Email').fill('grace@example.com');
    await button(page, 'Join the waitlist').click();

    await page.getByRole('heading', { name: 'You’re number 2' }).waitFor();
    assert.match(page.url(), /\/waitlist\/\d+\/status\/[\da-f-]{36}$/);
    await page.getByText('1 person is ahead of you.').waitFor();
    const link = await page.getByLabel('Your link to share').inputValue();
    assert.notEqual(link, friend.referral_link);
    assert.equal(await page.getByRole('row', { name: /Ada/ }).locator('td').last().innerText(), '1');
    // The private address shows the place again.
    await page.goto('about:blank');
    await page.goBack();
    await page.getByRole('heading', { name: 'You’re number 2' }).waitFor();
    // The new link refers too.
    const third = await open(link, { javaScriptEnabled });
    await third.getByLabel('Email').fill('third@example.com');
    await button(third, 'Join the waitlist').click();
    await third.getByRole('heading', { name: 'You’re number 3' }).waitFor();
    const people = await stage.list(id, { order: 'queue' });
    assert.deepEqual(
      people.map(({ email, amount_referred }) => [email, amount_referred]),
      [
        ['ada@example.com', 1],
        ['grace@example.com', 1],
        ['third@example.com', 0],
      ],
    );
  });

  test(`shows each fault at its input and keeps what was typed, ${how}`, async () => {
    const id = await stage.waitlist({ questions: QUESTIONS });
    const page = await open(addressOf(id), { javaScriptEnabled });
    await page.getByLabel('Where did you hear of us?').selectOption('A friend');
    await button(page, 'Join the waitlist').click();

    await page.getByRole('alert').getByText('Please check the form').waitFor();
    assert.match(await page.title(), /^Error: /);
    assert.equal(await page.getByLabel('Where did you hear of us?').inputValue(), 'A friend');
    const email = page.getByLabel('Email');
    assert.equal(await email.getAttribute('aria-invalid'), 'true');
    if (javaScriptEnabled) await checkPage(page, 'page-faults');
    await email.fill('ada@example.com');
    await page.getByLabel('What will you build?').fill('An engine');
    await button(page, 'Join the waitlist').click();

    await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
    const [waiter] = await stage.list(id, { questions_request: true });
    assert.deepEqual([waiter?.answer_1, waiter?.answer_2], ['A friend', 'An engine']);
  });

  test(`says that a list is closed, and still finds those who joined it, ${how}`, async () => {
    const id = await stage.waitlist();
    await join(id, { email: 'ada@example.com' });
    await stage.configure(id, { is_closed: true });
    const page = await open(addressOf(id), { javaScriptEnabled });
    await page.getByText('This waitlist is closed.').waitFor();
    if (javaScriptEnabled) await checkPage(page, 'page-closed');
    await page.getByLabel('Email').fill('nobody@example.com');
    await button(page, 'See my place').click();
    await page.getByText('We found no signup with these details.').waitFor();
    await page.getByLabel('Email').fill('ada@example.com');
    await button(page, 'See my place').click();

    await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
  });
}

for (const javaScriptEnabled of [true, false])
  test(`finds those who have joined, ${javaScriptEnabled ? 'with scripts' : 'without scripts'}`, async () => {
    const id = await stage.waitlist();
    await join(id, { email: 'ada@example.com' });
    const page = await open(addressOf(id), { javaScriptEnabled });
    await page.getByRole('link', { name: 'Already joined? See your place' }).click();
    if (javaScriptEnabled) await checkPage(page, 'page-lookup');
    await page.getByLabel('Email').fill('nobody@example.com');
    await button(page, 'See my place').click();
    await page.getByText('We found no signup with these details.').waitFor();
    await page.getByLabel('Email').fill('ada@example.com');
    await button(page, 'See my place').click();

    await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
  });

test('hinders nobody before and after joining, and copies the link', async () => {
  const id = await stage.waitlist({ uses_leaderboard: true, widget_shows_social_links: true });
  const { referral_link } = await join(id, { email: 'ada@example.com', first_name: 'Ada' });
  const page = await open(referral_link as string);
  await checkPage(page, 'page');
  await page.getByLabel('Email').fill('grace@example.com');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'You’re number 2' }).waitFor();
  await checkPage(page, 'page-joined');

  await button(page, 'Copy').click();
  await button(page, 'Copied').waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, await page.getByLabel('Your link to share').inputValue());
});

test('tells people whose turn it is, in the owner’s language and words', async () => {
  const id = await stage.waitlist({
    lang: 'ar',
    texts: { your_turn: 'حان دورك', your_turn_button: 'ابدأ' },
    your_turn_url: 'https://example.com/welcome',
  });
  const { uuid } = await join(id, { email: 'ada@example.com' });
  await stage.letIn(id, 1);
  const page = await open(`${addressOf(id)}/status/${uuid}`);

  await page.getByRole('heading', { name: 'حان دورك' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'ابدأ' }).getAttribute('href'), 'https://example.com/welcome');
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
  await checkPage(page, 'page-your-turn');
});

test('has the owner’s colors, which people can read in both schemes', async () => {
  const colors = { widget_button_color: '#1f6f50', widget_background_color: '#fff8e7', status_main_color: '#1f6f50' };
  const id = await stage.waitlist({ title: 'Join the garden', configuration_style_json: colors });
  const page = await open(addressOf(id));
  await checkPage(page, 'page-colors');
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();

  await checkPage(page, 'page-colors-joined');
});

test('shows hostile texts as text', async () => {
  const text = '<img src=x onerror=alert(1)><script>alert(1)</script>';
  const id = await stage.waitlist({ title: text, uses_leaderboard: true, texts: { email: text } });
  const { referral_link } = await join(id, { email: 'a@example.com', first_name: text });
  await join(id, { email: 'b@example.com', referral_link });
  const page = await open(addressOf(id));

  await page.getByRole('heading', { name: text }).waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  await page.getByLabel(text).fill('c@example.com');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('cell', { name: text }).waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
});

test('fits 320 px, and text of twice the size', async () => {
  const id = await stage.waitlist({ questions: QUESTIONS, uses_firstname_lastname: true });
  const page = await open(addressOf(id));
  const isWider = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  await page.setViewportSize({ width: 320, height: 640 });

  assert.equal(await isWider(), false);
  await page.setViewportSize({ width: 640, height: 640 });
  await page.evaluate(() => document.documentElement.style.setProperty('zoom', '2'));
  assert.equal(await isWider(), false);
});

test('is a page too where there is no waitlist', async () => {
  const page = await open(addressOf(2_000_000));

  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await checkPage(page, 'page-not-found');
});

test('leaves nothing in the browser: no cookie, no storage', async () => {
  const id = await stage.waitlist();
  const page = await open(addressOf(id));
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();

  assert.deepEqual(await page.context().storageState({ indexedDB: true }), { cookies: [], origins: [] });
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});
