/** Swagger UI by clicks: the first steps of a stranger, with nothing but `/docs`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call, logIn, PICTURES, Stage } from './harness.ts';

const SCREEN = { width: 1280, height: 800 };
/** Operations that add a record, a waitlist or a key, as their names say. */
const ADDS = ['createWaitlist', 'createSignup', 'createAccountKey', 'createWebhook', 'inviteMember'];
/** Operations whose success has no body. */
const EMPTY = [
  'deleteWaitlist',
  'eraseSignups',
  'revokeAccountKey',
  'deleteWebhook',
  'changePassword',
  'logOut',
  'endSession',
  'resendVerification',
  'sendTestMail',
  'disableTwoFactor',
  'acceptInvitation',
  'requestPasswordReset',
  'resetPassword',
  'startSingleSignOn',
  'finishSingleSignOn',
  'removeMember',
  'resetTwoFactor',
];

let stage, service, page;

before(async () => {
  stage = await Stage.open();
  service = stage.service;
  page = await stage.openPage();
});
after(() => stage?.close());

const block = (operationId) => page.locator(`[id$="-${operationId}"].opblock`);

const operationIds = (blocks = '.opblock') =>
  page.locator(blocks).evaluateAll((list) => list.map(({ id }) => id.split('-').at(-1)));

async function open(operationId) {
  const operation = block(operationId);
  if (!(await operation.locator('.opblock-body').isVisible()))
    await operation.locator('.opblock-summary-control').click();
  await operation.locator('.btn.execute').waitFor();
  return operation;
}

/** Presses Execute; the answer's status and body as the page shows them. */
async function execute(operation) {
  await operation.locator('.btn.execute').click();
  const live = operation.locator('.live-responses-table .response').first();
  await live.locator('.response-col_status').waitFor();
  await operation.locator('.loading-container').waitFor({ state: 'detached' });
  const status = Number.parseInt(await live.locator('.response-col_status').innerText(), 10);
  const text = await live.locator('.highlight-code code').first().innerText();
  return { status, body: JSON.parse(text) };
}

test('has its own title and icon', async () => {
  await page.goto(service.docs);
  await block('createSignup').waitFor();
  assert.equal(await page.title(), 'Waitlist Service');
  assert.equal(page.url(), `${service.url}/docs`, 'the values of the link stay out of the address');
  assert.match(await page.locator('link[rel=icon]').getAttribute('href'), /\/docs\/assets\/favicon\.svg\?v=/);
  await page.screenshot({ path: join(PICTURES, 'docs.png') });
});

test('shows an operation on the first screen, and the rest of the description when asked', async () => {
  const { y } = await page.locator('.opblock').first().boundingBox();
  assert.ok(y < SCREEN.height, `the first operation begins at ${y} px`);
  const row = page.getByRole('row', { name: '413 the body is too large' });
  assert.equal(await row.isVisible(), false);

  await page.locator('summary', { hasText: 'Errors' }).click();

  const { height } = await row.boundingBox();
  assert.ok(height < 40, `a row of the table is ${height} px high`);
  await page.screenshot({ path: join(PICTURES, 'docs-errors-open.png') });
  await page.locator('summary', { hasText: 'Errors' }).click();
});

test('begins Authorize with the access token', async () => {
  await page.locator('.auth-wrapper .btn.authorize').click();
  const first = page.locator('.auth-container').first();
  await first.locator('input:focus').waitFor();
  assert.match(await first.innerText(), /^access_token/);
  await page.screenshot({ path: join(PICTURES, 'docs-authorize.png') });
  await page.locator('.modal-ux .close-modal').click();
});

/** Opens Authorize, lets `act` use the fields of a scheme, and closes it. */
async function authorize(scheme, act) {
  await page.locator('.auth-wrapper .btn.authorize').click();
  const container = page.locator('.auth-container', { hasText: `${scheme}\u00a0` }).first();
  const result = await act(container);
  await page.locator('.modal-ux .close-modal').click();
  return result;
}

const isAuthorized = (scheme) =>
  authorize(scheme, async (container) => (await container.innerText()).includes('Authorized'));

async function paste(scheme, token) {
  await authorize(scheme, async (container) => {
    await container.locator('input').fill(token);
    await container.locator('button[type=submit]').click();
  });
}

async function logOut(scheme) {
  await authorize(scheme, (container) => container.locator('button', { hasText: 'Logout' }).click());
}

/** The page, once it is there again and has taken over the token that the tab kept. */
async function resumed() {
  await block('listWaiters').waitFor();
  await page.locator('.auth-wrapper .btn.authorize.locked').waitFor();
}

const stored = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));

test('leads from logging in to offboarding by clicks, with the examples as they stand', async () => {
  assert.equal((await execute(await open('createTokens'))).status, 200);

  const signup = await execute(await open('createSignup'));
  assert.equal(signup.status, 200);
  assert.equal(signup.body.priority, 0);
  assert.equal((await execute(await open('getSignup'))).body.uuid, signup.body.uuid);

  const waiters = await execute(await open('listWaiters'));
  assert.equal(waiters.status, 200);
  assert.deepEqual(
    waiters.body.map(({ uuid }) => uuid),
    [signup.body.uuid],
  );

  const offboard = await open('offboardWaiters');
  const body = offboard.locator('textarea');
  const example = JSON.parse(await body.inputValue());
  await body.fill(JSON.stringify({ ...example, waiters: [{ id: waiters.body[0].id }] }));
  const offboarded = await execute(offboard);
  assert.equal(offboarded.status, 200);
  assert.deepEqual(
    offboarded.body.map(({ uuid, removed_from_waitlist }) => ({ uuid, removed_from_waitlist })),
    [{ uuid: signup.body.uuid, removed_from_waitlist: true }],
  );
  await offboard.scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(PICTURES, 'docs-offboarded.png') });
});

test('carries the pair of a login and of a refresh into Authorize', async () => {
  const login = await execute(await open('createTokens'));
  assert.equal(await isAuthorized('access_token'), true);

  const refreshed = await execute(await open('refreshAccessToken'));
  const again = await execute(await open('refreshAccessToken'));

  assert.deepEqual([refreshed.status, again.status], [200, 200]);
  const pairs = [login, refreshed, again].map(({ body }) => body.refresh_token);
  assert.equal(new Set(pairs).size, 3, 'each refresh used the token of the one before');
});

test('keeps the access token over a reload, and never the refresh token', async () => {
  const { body } = await execute(await open('createTokens'));
  assert.ok(!(await stored()).includes(body.refresh_token));

  await page.reload();
  await resumed();

  assert.equal(await isAuthorized('refresh_token'), false);
  assert.equal((await execute(await open('listWaiters'))).status, 200);
});

test('accepts a pasted token with the word Bearer, and forgets it on logout', async () => {
  const { body } = await execute(await open('createTokens'));
  await logOut('access_token');
  assert.ok(!(await stored()).includes(body.access_token));
  assert.equal((await execute(await open('listWaiters'))).status, 401);

  await paste('access_token', ` Bearer ${body.access_token} `);

  assert.equal((await execute(await open('listWaiters'))).status, 200);
});

test('opens the account operations with an account key in place of a token', async () => {
  const created = await execute(await open('createAccountKey'));
  assert.equal(created.status, 201);
  await logOut('access_token');

  await paste('account_key', created.body.key);

  assert.equal((await execute(await open('listWaiters'))).status, 200);
  await logOut('account_key');
  assert.equal((await execute(await open('listWaiters'))).status, 401);
  await execute(await open('createTokens'));
});

test('has examples that can be pressed without harm', async () => {
  const token = await logIn(service);
  await call(service, 'POST', '/api/v1/signup', { body: { waitlist_id: 1, email: 'grace@example.com' } });
  const state = async () => ({
    waitlist: await call(service, 'GET', '/api/v1/waitlist/1', { token }),
    waiters: await call(service, 'GET', `/api/v1/waiter?api_key=${service.apiKey}`, { token }),
  });
  const before = await state();

  for (const operationId of await operationIds('.opblock:not(.opblock-get)')) {
    if (ADDS.includes(operationId)) continue;
    const operation = await open(operationId);
    // Does nothing where a required field is empty.
    await operation.locator('.btn.execute').click();
    await operation.locator('.loading-container').waitFor({ state: 'detached' });
    // Each open operation slows the page down.
    await operation.locator('.opblock-summary-control').click();
  }

  assert.deepEqual(await state(), before);
});

test('shows an operation on two screens, with its own failures and a link to all', async () => {
  await page.reload();
  await block('listWaiters').waitFor();
  for (const operationId of await operationIds()) {
    const operation = await open(operationId);
    if (!EMPTY.includes(operationId)) await operation.locator('.responses-table .microlight').first().waitFor();
    const { height } = await operation.boundingBox();
    assert.ok(height <= 2 * SCREEN.height, `${operationId} is ${height} px high`);
    assert.equal(await operation.locator('.shared-failures a').getAttribute('href'), `${service.url}/docs/errors`);
    await operation.locator('.opblock-summary-control').click();
  }
  const codes = (await open('createSignup')).locator('.response-col_status');
  assert.deepEqual((await codes.allInnerTexts()).map((text) => text.trim()).filter(Number), [
    '200',
    '303',
    '404',
    '422',
    '429',
  ]);
});

test('lists the operations in the order in which they are used', async () => {
  const tags = await page.locator('.opblock-tag').evaluateAll((list) => list.map(({ dataset }) => dataset.tag));
  assert.deepEqual(tags, [
    'Auth',
    'Session',
    'Waitlist',
    'Signup',
    'Waiter',
    'Offer',
    'Webhook',
    'Account',
    'Member',
    'Account key',
    'Audit',
  ]);
});

test('follows the dark scheme', async () => {
  const lightness = () =>
    page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.querySelector('.swagger-ui')).backgroundColor)[0]));

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html.dark-mode').waitFor();

  assert.ok((await lightness()) < 64);
  await page.screenshot({ path: join(PICTURES, 'docs-dark.png') });
  await page.emulateMedia({ colorScheme: 'light' });
});

test('fits a phone', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open('updateWaitlist');

  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await page.screenshot({ path: join(PICTURES, 'docs-phone.png'), fullPage: true });
  await page.setViewportSize(SCREEN);
});

test('shows the earlier generations on a page of their own, and stays logged in', async () => {
  await page.goto(`${service.url}/docs/legacy`);
  await block('createWaiter').waitFor();
  assert.equal(await page.title(), 'Waitlist Service: earlier generations');

  const joined = await execute(await open('createWaiter'));
  const found = await execute(await open('getWaiter'));
  const submitted = await execute(await open('submitUser'));
  const view = await execute(await open('viewWaitlist'));

  assert.deepEqual(
    [joined, found, submitted, view].map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.equal(found.body.uuid, joined.body.uuid);
  assert.equal(submitted.body.user_id, joined.body.uuid);
  assert.equal(await block('createWaiter').locator('.opblock-summary-path__deprecated').count(), 1);
  await page.screenshot({ path: join(PICTURES, 'docs-legacy.png') });

  assert.ok(await page.locator('.info a[href="/docs"]').first().isVisible());
  await page.goto(`${service.url}/docs`);
  await resumed();
  assert.equal(await isAuthorized('access_token'), true);
});

test('explains every error where its type points', async () => {
  const problem = await call(service, 'GET', '/api/v1/signup?waitlist_id=1&email=nobody@example.com', { status: 404 });
  await page.goto(`${service.url}${problem.type}`);
  assert.match(await page.locator('section:target').innerText(), /NO_WAITER_FOUND/);
  assert.doesNotMatch(await page.locator('main').innerText(), /`/);
});
