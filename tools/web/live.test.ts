/** The private page that follows its place. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { call, checkPage, logIn, Stage } from './harness.js';

let stage: Stage;

before(async () => {
  stage = await Stage.open({ RATE_LIMIT_EXEMPT: '127.0.0.0/8,::1' });
});
after(() => stage.close());

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const join = (waitlist_id: number, fields: object = {}) =>
  call(stage.service, 'POST', '/api/v1/signup', {
    body: { waitlist_id, email: `${randomUUID()}@example.com`, ...fields },
  });
const asOwner = async (method: string, path: string, body: object, status = 200) =>
  call(stage.service, method, path, { body, token: await logIn(stage.service), status });
const addressOf = (id: number, { uuid }: Record<string, unknown>) =>
  `${stage.service.url}/waitlist/${id}/status/${String(uuid)}`;
const isStream = (request: Request) => request.resourceType() === 'eventsource';
/** The line for screen readers. */
const announced = (page: Page, text: string | RegExp) => page.locator('.waitlist-live', { hasText: text });
const isFocused = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => element === document.activeElement);

/** The page, once it has its events. */
async function follow(address: string, options: Parameters<Stage['openPage']>[0] = {}): Promise<Page> {
  const page = await stage.openPage(options);
  const stream = page.waitForResponse((response) => isStream(response.request()));
  await page.goto(address);
  assert.equal((await stream).status(), 200);
  await page.evaluate(() => Object.assign(window, { isFirstDocument: true }));
  return page;
}

const isFirstDocument = (page: Page) => page.evaluate(() => 'isFirstDocument' in window);

for (const width of [1280, 390] as const)
  test(`counts down by itself, and keeps the focus and the selection, at ${width} px`, async () => {
    const id = await stage.waitlist({ spots_to_move_upon_referral: 1 });
    for (let person = 1; person <= 2; person += 1) await join(id);
    const ada = await join(id);
    const page = await follow(addressOf(id, ada), { width });
    await heading(page, 'You’re number 3').waitFor();
    assert.equal(await page.locator('.waitlist-live').textContent(), '');
    await page.getByLabel('Your link to share').focus();

    await stage.letIn(id, 1);
    await heading(page, 'You’re number 2').waitFor();
    await page.getByText('As the list moved on, you moved up 1 place.').waitFor();
    await announced(page, /^You’re number 2$/).waitFor({ state: 'attached' });
    assert.match(await page.title(), /^You’re number 2 /);
    assert.equal(await isFocused(page, '#waitlist-link'), true);
    assert.equal(await page.evaluate(() => getSelection()?.toString()), ada.referral_link);

    // A page loads itself at most every ten seconds.
    await join(id, { referral_link: ada.referral_link });
    await heading(page, 'You’re number 1').waitFor();
    await page.getByText('1 friend has joined through your link. That moved you up 1 place.').waitFor();
    assert.equal(await isFocused(page, '#waitlist-link'), true);
    await button(page, 'Copy').click();
    await button(page, 'Copied').waitFor();
    // Not again so soon.
    assert.equal(await page.locator('.waitlist-live').textContent(), 'You’re number 2');
    await checkPage(page, `page-live-${width}`);
    assert.equal(await isFirstDocument(page), true);
    await page.context().close();
  });

test('shows an offer, the way back and being let in', async () => {
  const id = await stage.waitlist();
  const ada = await join(id);
  const people = { signups: [{ uuid: ada.uuid }] };
  const page = await follow(addressOf(id, ada));
  await button(page, 'Copy').focus();

  await asOwner('POST', `/api/v1/waitlist/${id}/offer`, people);
  await heading(page, 'A spot is open for you').waitFor();
  await page.getByText('You can accept until').waitFor();
  await announced(page, 'A spot is open for you').waitFor({ state: 'attached' });
  // The button is gone. The next key starts from the content, not from the top of the browser.
  assert.equal(await isFocused(page, 'main'), true);
  await checkPage(page, 'page-offered');

  await asOwner('POST', `/api/v1/waitlist/${id}/return`, people);
  await heading(page, 'You’re number 1').waitFor();
  await button(page, 'Copy').click();
  await button(page, 'Copied').waitFor();

  await stage.letIn(id, 1);
  await heading(page, 'It’s your turn').waitFor();
  await announced(page, 'It’s your turn').waitFor({ state: 'attached' });

  // The owner's “Undo”.
  await asOwner('POST', `/api/v1/waitlist/${id}/return`, people);
  await heading(page, 'You’re number 1').waitFor();
  await announced(page, 'You’re number 1').waitFor({ state: 'attached' });
  assert.equal(await isFirstDocument(page), true);
});

test('is not loaded again for signups before the email is confirmed', async () => {
  const mailing = await Stage.open({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'launch@example.com' });
  const id = await mailing.waitlist({ verification: 'required' });
  const body = (email: string) => ({ body: { waitlist_id: id, email } });
  const { uuid } = await call(mailing.service, 'POST', '/api/v1/signup', body('ada@example.com'));
  const token = await logIn(mailing.service);
  await call(mailing.service, 'PATCH', `/api/v1/waitlist/${id}`, { body: { verification: 'off' }, token, status: 200 });
  const page = await mailing.openPage();
  const loads: Request[] = [];
  page.on('request', (request) => request.resourceType() === 'fetch' && loads.push(request));
  const stream = page.waitForResponse((response) => isStream(response.request()));
  await page.goto(`${mailing.service.url}/waitlist/${id}/status/${String(uuid)}`);
  await stream;

  await call(mailing.service, 'POST', '/api/v1/signup', body('bob@example.com'));
  // Two events at the latest.
  await page.waitForTimeout(6_000);
  assert.equal(loads.length, 0);

  await call(mailing.service, 'PATCH', `/api/v1/signup/${String(uuid)}`, {
    body: { verified: true },
    token,
    status: 200,
  });
  await heading(page, 'You’re number 2').waitFor();
  await mailing.close();
});

test('tells people who were erased that there is no such page', async () => {
  const id = await stage.waitlist();
  const ada = await join(id);
  const page = await follow(addressOf(id, ada));

  await asOwner('DELETE', '/api/v1/signup', { waitlist_id: id, signups: [{ uuid: ada.uuid }] }, 204);

  await heading(page, 'Page not found').waitFor();
});

test('asks for events only while somebody sees it', async () => {
  const id = await stage.waitlist();
  await join(id);
  const page = await follow(addressOf(id, await join(id)));
  const show = (isShown: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, !isShown);

  const ended = page.waitForEvent('requestfailed', isStream);
  await show(false);
  await ended;
  await stage.letIn(id, 1);
  const opened = page.waitForRequest(isStream);
  await show(true);
  await opened;

  await heading(page, 'You’re number 1').waitFor();
});

test('says the same without scripts', async () => {
  const id = await stage.waitlist();
  await join(id);
  const ada = await join(id);
  await stage.letIn(id, 1);
  const page = await stage.openPage({ javaScriptEnabled: false });
  await page.goto(addressOf(id, ada));

  await heading(page, 'You’re number 1').waitFor();
  await page.getByText('You joined as number 2.').waitFor();
  await page.getByText('As the list moved on, you moved up 1 place.').waitFor();
});

test('stays as it is where the operator has turned events off', async () => {
  const still = await Stage.open({ LIVE_CONNECTIONS: '0' });
  const id = await still.waitlist();
  const body = { waitlist_id: id, email: 'ada@example.com' };
  const { uuid } = await call(still.service, 'POST', '/api/v1/signup', { body });
  const page = await still.openPage();
  const requests: Request[] = [];
  page.on('request', (request) => requests.push(request));

  await page.goto(`${still.service.url}/waitlist/${id}/status/${String(uuid)}`);
  await button(page, 'Copy').waitFor();

  assert.equal(requests.some(isStream), false);
  await still.close();
});
