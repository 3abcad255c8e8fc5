/** The widget by clicks, in pages of another origin whose policy allows nothing but the service. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import arabic from '../../web/page/catalogs/ar.json' with { type: 'json' };
import french from '../../web/page/catalogs/fr.json' with { type: 'json' };
import { call, checkPage, logIn, type Site, Stage, startSite } from './harness.js';

const SIZE_MAX = 16_000;
const QUESTIONS = [
  { question_value: 'Where did you hear of us?', optional: true, answer_value: ['A friend', 'The news'] },
  { question_value: 'What will you build?', optional: false, answer_value: null },
];

let stage: Stage;
let site: Site;
let url: string;

before(async () => {
  stage = await Stage.open();
  url = stage.service.url;
  site = await startSite((path) => ({
    html: `<!doctype html>
<html lang="en">
  <head><title>Another site</title><meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" /><script src="${url}/widget.js"></script></head>
  <body><main><h1>Another site</h1>${elementFor(path)}<p id="below">Below</p></main></body>
</html>`,
    policy: `default-src 'none'; script-src ${url}; connect-src ${url}; base-uri 'none'; require-trusted-types-for 'script'`,
  }));
});
after(async () => {
  await site.stop();
  await stage.close();
});

/** `/1`, `/1/row`, or `/1/hosted` for the container of the hosted product. */
function elementFor(path: string): string {
  const [, id = '', kind] = /\/(\d+)(?:\/(hosted|row))?/.exec(path) ?? [];
  if (kind === 'row') return `<waitlist-signup waitlist-id="${id}" layout="row"></waitlist-signup>`;
  return kind === 'hosted'
    ? `<div id="getWaitlistContainer" data-waitlist_id="${id}" data-widget_type="WIDGET_1"></div>`
    : `<waitlist-signup waitlist-id="${id}"></waitlist-signup>`;
}

async function open(path: string, options: Parameters<Stage['openPage']>[0] = {}): Promise<Page> {
  const page = await stage.openPage({ origins: [site.url], ...options });
  await page.goto(`${site.url}${path}`);
  return page;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test(`is one script under ${SIZE_MAX} bytes gzipped, which any page may load and no cache keeps for long`, async () => {
  const response = await fetch(`${url}/widget.js`);
  const { headers } = response;

  assert.equal(response.status, 200);
  assert.ok(gzipSync(await response.text()).length < SIZE_MAX);
  assert.equal(headers.get('access-control-allow-origin'), '*');
  assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(headers.get('cache-control'), 'public, max-age=300');
  const again = await fetch(`${url}/widget.js`, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  assert.equal(again.status, 304);
});

test('leads from a friend’s link to a link of one’s own, on a page of another origin', async () => {
  const id = await stage.waitlist({
    waitlist_url_location: `${site.url}/2`,
    uses_leaderboard: true,
    widget_shows_social_links: true,
    // The test types faster than people do.
    fraud: { minimum_seconds: null },
  });
  const friend = await call(stage.service, 'POST', '/api/v1/signup', {
    body: { waitlist_id: id, email: 'ada@example.com', first_name: 'Ada' },
  });
  const token = new URL(friend.referral_link as string).searchParams.get('ref_id');
  const page = await open(`/${id}?ref_id=${token}`);

  await page.getByLabel('Email').fill('grace@example.com');
  await checkPage(page, 'widget');
  await button(page, 'Join the waitlist').click();

  await page.getByRole('heading', { name: 'You’re number 2' }).waitFor();
  assert.ok(await page.getByText('1 person is ahead of you.').isVisible());
  assert.equal(await page.getByRole('row', { name: /Ada/ }).locator('td').last().innerText(), '1');
  await button(page, 'Copy').click();
  await button(page, 'Copied').waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /\/2\?ref_id=[0-9A-Z]{12}$/);
  assert.notEqual(copied, friend.referral_link);
  await checkPage(page, 'widget-joined');
});

test('is one row where the page asks for it, and the button moves below the input where it is narrow', async () => {
  const id = await stage.waitlist({ required_contact: { phone: 'off' }, signup_button_title: 'Get early access' });
  const page = await open(`/${id}/row`);
  const tops = () =>
    Promise.all(
      [page.getByLabel('Email'), button(page, 'Get early access')].map(async (part) => (await part.boundingBox())?.y),
    );
  await page.getByLabel('Email').waitFor();

  const [input, submit] = await tops();
  assert.equal(input, submit);
  assert.equal(await page.locator('waitlist-signup').evaluate((element) => (element as HTMLElement).offsetHeight), 70);
  await checkPage(page, 'widget-row');
  await page.setViewportSize({ width: 320, height: 700 });
  const [upper = 0, lower = 0] = await tops();
  assert.ok(lower > upper);
  await button(page, 'Get early access').click();
  await page.getByRole('alert').waitFor();
  await checkPage(page, 'widget-row-faults');
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Get early access').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
  await checkPage(page, 'widget-row-joined');
});

test('shows its usual form in place of a row if the waitlist asks for more than one thing', async () => {
  const id = await stage.waitlist({ title: 'Two things', lang: 'ar' });
  const page = await open(`/${id}/row`);

  await page.getByRole('heading', { name: 'Two things' }).waitFor();
  const input = await page.getByLabel(arabic.email).boundingBox();
  const submit = await button(page, arabic.button).boundingBox();
  assert.ok(submit && input && submit.y > input.y + input.height);
  await stage.configure(id, { required_contact: { email: 'required', phone: 'off' } });
  await page.reload();
  await page.getByPlaceholder(arabic.email).waitFor();
  await checkPage(page, 'widget-row-rtl');
});

test('leads to one’s private page after joining, and remembers nobody', async () => {
  const id = await stage.waitlist();
  const page = await open(`/${id}`);
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Your private page, with your place' }).click();

  const own = await opened;
  await own.getByRole('heading', { name: 'You’re number 1' }).waitFor();
  assert.match(own.url(), new RegExp(`^${url}/waitlist/${id}/status/[0-9a-f-]{36}$`));
  await page.reload();
  await page.getByLabel('Email').waitFor();
  assert.equal(await page.getByRole('link').count(), 0);
});

test('recognizes the container of the hosted product', async () => {
  const id = await stage.waitlist();
  const page = await open(`/${id}/hosted`);

  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();

  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
});

test('counts a page view once', async () => {
  const id = await stage.waitlist();
  const beats: unknown[] = [];
  const page = await stage.openPage({ origins: [site.url] });
  page.on('request', (request) => request.url().endsWith('/widget_heartbeats') && beats.push(request.postDataJSON()));
  await page.goto(`${site.url}/${id}/hosted`);
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();

  assert.deepEqual(beats, [
    { location: `${site.url}/${id}/hosted`, referrer: '', waitlist_id: id, widget_type: 'WIDGET_1' },
  ]);
});

test('shows another waitlist when the page names another, and none when it names one that is missing', async () => {
  const [first, second] = [await stage.waitlist(), await stage.waitlist({ title: 'The second' })];
  const page = await open(`/${first}`, {
    origins: [site.url],
    expectedError: /<waitlist-signup>: There is no such waitlist\./,
  });
  const name = (id: number) =>
    page.locator('waitlist-signup').evaluate((element, value) => element.setAttribute('waitlist-id', value), `${id}`);
  await page.getByLabel('Email').waitFor();
  await name(second);
  await page.getByRole('heading', { name: 'The second' }).waitFor();
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
  assert.deepEqual([(await stage.list(first)).length, (await stage.list(second)).length], [0, 1]);

  await name(first);
  await page.getByLabel('Email').waitFor();
  await name(2_000_000);
  await page.getByLabel('Email').waitFor({ state: 'detached' });
});

test('refers from an address that is longer than a signup takes', async () => {
  // The test types faster than people do.
  const id = await stage.waitlist({ fraud: { minimum_seconds: null } });
  const body = { waitlist_id: id, email: 'ada@example.com' };
  const friend = await call(stage.service, 'POST', '/api/v1/signup', { body });
  const token = new URL(friend.referral_link as string).searchParams.get('ref_id');
  const page = await open(`/${id}?campaign=${'x'.repeat(2_100)}&ref_id=${token}`);
  await page.getByLabel('Email').fill('grace@example.com');
  await button(page, 'Join the waitlist').click();

  await page.getByRole('heading', { name: 'You’re number 2' }).waitFor();
  const [referrer] = await stage.list(id, { email: 'ada@example.com' });
  assert.equal(referrer?.amount_referred, 1);
});

test('shows each fault at its input, keeps what was typed, and leads to the input by keyboard', async () => {
  const id = await stage.waitlist({ questions: QUESTIONS, uses_firstname_lastname: true });
  const page = await open(`/${id}`);
  await page.getByLabel('Where did you hear of us?').selectOption('A friend');
  await page.getByLabel('First name').fill('Ada');
  await button(page, 'Join the waitlist').click();

  await page.getByRole('alert').getByText('Please check the form').waitFor();
  assert.equal(await page.getByLabel('First name').inputValue(), 'Ada');
  assert.equal(await page.getByLabel('Where did you hear of us?').inputValue(), 'A friend');
  await checkPage(page, 'widget-faults');
  // The summary has the focus.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.type('ada@example.com');
  assert.equal(await page.getByLabel('Email').inputValue(), 'ada@example.com');
  assert.equal(new URL(page.url()).hash, '');
  await page.getByLabel('What will you build?').fill('An engine');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');

  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
  const [waiter] = await stage.list(id, { questions_request: true });
  assert.deepEqual([waiter?.answer_1, waiter?.answer_2], ['A friend', 'An engine']);
});

test('shows a closed list, and still finds those who joined it', async () => {
  const id = await stage.waitlist();
  await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: id, email: 'ada@example.com' } });
  await stage.configure(id, { is_closed: true });
  const page = await open(`/${id}`);

  await page.getByText('This waitlist is closed.').waitFor();
  await checkPage(page, 'widget-closed');
  await page.getByLabel('Email').fill('nobody@example.com');
  await button(page, 'See my place').click();
  await page.getByText('We found no signup with these details.').waitFor();
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'See my place').click();

  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
});

test('becomes a closed list’s form if the list closes while somebody types', async () => {
  const id = await stage.waitlist();
  const page = await open(`/${id}`);
  await page.getByLabel('Email').fill('ada@example.com');
  await stage.configure(id, { is_closed: true });
  await button(page, 'Join the waitlist').click();

  await page.getByText('This waitlist is closed.').waitFor();
  assert.equal(await page.getByLabel('Email').inputValue(), 'ada@example.com');
});

test('keeps each answer at its question if the owner changes the questions while somebody types', async () => {
  const [city, job] = [
    { question_value: 'City', optional: true },
    { question_value: 'Job', optional: true },
  ];
  const id = await stage.waitlist({ questions: [city, job] });
  const page = await open(`/${id}`);
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('City').fill('Paris');
  await page.getByLabel('Job').fill('Nurse');
  const town = { id: 1, question_value: 'Town', optional: true };
  await stage.configure(id, { questions: [job, { question_value: 'Age', optional: false }, town] });
  await button(page, 'Join the waitlist').click();

  await page.getByRole('alert').getByText('The questions have changed').first().waitFor();
  assert.equal(await page.getByLabel('Job').inputValue(), 'Nurse');
  assert.equal(await page.getByLabel('Town').inputValue(), 'Paris');
  await page.getByLabel('Age').fill('40');
  await button(page, 'Join the waitlist').click();

  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
  const [waiter] = await stage.list(id, { questions_request: true });
  assert.deepEqual([waiter?.answer_1, waiter?.answer_2, waiter?.answer_3], ['Nurse', '40', 'Paris']);
});

test('requires the email where it is the only contact data', async () => {
  const id = await stage.waitlist({ required_contact: { email: 'optional', phone: 'off' } });
  const page = await open(`/${id}`);

  assert.equal(await page.getByLabel('Email', { exact: true }).getAttribute('required'), '');
});

test('tells people whose turn it is, in the owner’s words', async () => {
  const id = await stage.waitlist({
    texts: { your_turn: 'À toi', button: 'M’inscrire', email: 'Courriel' },
    lang: 'fr',
    your_turn_url: 'https://example.com/welcome',
  });
  await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: id, email: 'ada@example.com' } });
  await stage.letIn(id, 1);
  const page = await open(`/${id}`);
  await page.getByLabel('Courriel').fill('ada@example.com');
  await button(page, 'M’inscrire').click();

  await page.getByRole('heading', { name: 'À toi' }).waitFor();
  assert.equal(
    await page.getByRole('link', { name: french.your_turn_button }).getAttribute('href'),
    'https://example.com/welcome',
  );
  await checkPage(page, 'widget-your-turn');
});

test('tells people who are offered a spot to open their link, of which no mail may have told them', async () => {
  const id = await stage.waitlist();
  await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: id, email: 'ada@example.com' } });
  const token = await logIn(stage.service);
  await call(stage.service, 'POST', `/api/v1/waitlist/${id}/offer`, { body: { count: 1 }, token, status: 200 });
  const page = await open(`/${id}`);
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();

  await page.getByRole('heading', { name: 'A spot is open for you' }).waitFor();
  await page.getByText('Open the link from us to accept it or decline it.').waitFor();
  await checkPage(page, 'widget-offered');
});

test('shows hostile texts as text', async () => {
  const text = '<img src=x onerror=alert(1)><script>alert(1)</script>';
  const id = await stage.waitlist({ title: text, signup_button_title: text.slice(0, 100), texts: { email: text } });
  const page = await open(`/${id}`);

  await page.getByRole('heading', { name: text }).waitFor();
  assert.equal(await page.locator('waitlist-signup img, waitlist-signup script').count(), 0);
});

test('takes the font of its page and the owner’s colors, and the page’s own colors win', async () => {
  const id = await stage.waitlist({
    configuration_style_json: { widget_button_color: '#1f6f50', widget_background_color: '#fff8e7' },
    remove_widget_headers: true,
  });
  const page = await open(`/${id}`);
  const submit = button(page, 'Join the waitlist');
  await submit.waitFor();
  const style = (name: string) =>
    submit.evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), name);
  await page.evaluate(() => (document.body.style.fontFamily = 'monospace'));

  assert.equal(await style('font-family'), 'monospace');
  assert.equal(await style('background-color'), 'rgb(31, 111, 80)');
  assert.equal(await page.getByRole('heading', { level: 2 }).count(), 0);
  await checkPage(page, 'widget-colors');
  await page
    .locator('waitlist-signup')
    .evaluate((element) => (element as HTMLElement).style.setProperty('--waitlist-button', '#000080'));
  assert.equal(await style('background-color'), 'rgb(0, 0, 128)');
});

test('never moves what is around it until somebody has joined, and then leaves no empty space', async () => {
  // The test types faster than people do.
  const id = await stage.waitlist({ fraud: { minimum_seconds: null } });
  const page = await open(`/${id}`);
  const top = () => page.locator('#below').evaluate((element) => element.getBoundingClientRect().top);
  await page.getByLabel('Email').waitFor();
  const before = await top();
  const shift = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
        });
        observer.observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
      }),
  );
  assert.equal(shift, 0);
  await button(page, 'Join the waitlist').click();
  await page.getByRole('alert').waitFor();
  const faulty = await top();
  assert.ok(faulty > before);
  await page.getByLabel('Email').fill('ada');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('alert').getByText('Enter an email address').waitFor();
  assert.ok((await top()) >= faulty);
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();

  const heights = await page.locator('waitlist-signup').evaluate((element) => {
    // What the page reserves is for the form too.
    element.style.minHeight = '900px';
    return [element, element.shadowRoot?.querySelector('.waitlist-card')].map(
      (box) => (box as HTMLElement).offsetHeight,
    );
  });
  assert.equal(heights[0], heights[1]);
});

test('leaves nothing in the browser: no cookie, no storage', async () => {
  const id = await stage.waitlist();
  const page = await open(`/${id}`);
  await page.getByLabel('Email').fill('ada@example.com');
  await button(page, 'Join the waitlist').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();

  assert.deepEqual(await page.context().storageState({ indexedDB: true }), { cookies: [], origins: [] });
});

test('leaves the page alone if the service is away, and comes back with it', async () => {
  const id = await stage.waitlist();
  const page = await open(`/${id}`);
  await page.getByLabel('Email').fill('ada@example.com');
  await stage.service.interrupt();
  await button(page, 'Join the waitlist').click();

  await page.getByRole('alert').getByText('The waitlist can’t be reached right now.').waitFor();
  assert.equal(await page.getByLabel('Email').inputValue(), 'ada@example.com');
  // The script may come from a cache while the service is away.
  const second = await stage.openPage({ origins: [site.url] });
  await stage.service.resume();
  await second.route('**/api/v1/waitlist/*', (route) => route.abort('connectionrefused'));
  await second.goto(`${site.url}/${id}`);
  await button(second, 'Try again').waitFor();
  await checkPage(second, 'widget-away');
  await second.unrouteAll();
  await button(second, 'Try again').click();
  await second.getByLabel('Email').waitFor();
  await button(page, 'Join the waitlist').click();
  await page.getByRole('heading', { name: 'You’re number 1' }).waitFor();
});

test('can be tried below the documentation', async () => {
  const id = await stage.waitlist({ title: 'Tried' });
  const page = await stage.openPage();
  await page.goto(`${url}/docs/widget`);
  await page.getByLabel('Waitlist').fill(String(id));
  await button(page, 'Show').click();

  await page.getByRole('heading', { name: 'Tried' }).waitFor();
  await checkPage(page, 'widget-demo');
});
