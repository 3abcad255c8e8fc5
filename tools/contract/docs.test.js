/**
 * Swagger UI in a real browser, by clicks: what a stranger does who has only `/docs`. `npm run test:docs` needs
 * Chromium (Debian: `apt-get install chromium`; elsewhere name it in CHROMIUM).
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { call, ROOT, startService } from './service.js';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const SCREENSHOTS = join(ROOT, 'coverage/docs');
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];
const OFFLINE = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];

let service, browser, page;
const requests = [];
const complaints = [];

before(async () => {
  if (!existsSync(CHROMIUM)) throw new Error(`There is no browser at ${CHROMIUM}: install Chromium, or set CHROMIUM.`);
  await mkdir(SCREENSHOTS, { recursive: true });
  service = await startService();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: [...QUIET, ...OFFLINE] });
  page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const block = (operationId) => page.locator(`[id$="-${operationId}"].opblock`);

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
  assert.match(await page.locator('link[rel=icon]').getAttribute('href'), /\/docs\/assets\/favicon\.svg$/);
  await page.screenshot({ path: join(SCREENSHOTS, 'docs.png') });
});

test('leads from logging in to offboarding by clicks, with the examples as they stand', async () => {
  const tokens = await execute(await open('createTokens'));
  assert.equal(tokens.status, 200);

  await page.locator('.auth-wrapper .btn.authorize').click();
  const dialog = page.locator('.auth-container', { hasText: 'access_token' }).first();
  await page.locator('.auth-container input:focus').waitFor();
  assert.equal(await dialog.locator('input:focus').count(), 1, 'the cursor is where the access token goes');
  await dialog.locator('input').fill(tokens.body.access_token);
  await dialog.locator('button[type=submit]').click();
  await page.locator('.btn-done').first().click();

  const signup = await execute(await open('createSignup'));
  assert.equal(signup.status, 200);
  assert.equal(signup.body.priority, 0);
  assert.equal((await execute(await open('getSignup'))).body.uuid, signup.body.uuid);

  await page.reload();
  await block('listWaiters').waitFor();
  const waiters = await execute(await open('listWaiters'));
  assert.equal(waiters.status, 200);
  assert.deepEqual(
    waiters.body.map(({ uuid }) => uuid),
    [signup.body.uuid],
  );

  const offboard = await open('offboardWaiters');
  const offboarded = await execute(offboard);
  assert.equal(offboarded.status, 200);
  assert.deepEqual(
    offboarded.body.map(({ uuid, removed_from_waitlist }) => ({ uuid, removed_from_waitlist })),
    [{ uuid: signup.body.uuid, removed_from_waitlist: true }],
  );
  await offboard.scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(SCREENSHOTS, 'offboarded.png') });
});

test('explains every error where its type points', async () => {
  const problem = await call(service, 'GET', '/api/v1/signup?waitlist_id=1&email=nobody@example.com', { status: 404 });
  await page.goto(`${service.url}${problem.type}`);
  assert.match(await page.locator('section:target').innerText(), /NO_WAITER_FOUND/);
});

test('sends nothing to other hosts, and nothing breaks its strict policy', () => {
  assert.ok(requests.length > 5);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:')),
    [],
  );
  assert.deepEqual(
    complaints.filter((text) => !/status of 4\d\d/.test(text)),
    [],
  );
});
