/** What people see where the service limits the requests of their address. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { checkPage, Stage } from './harness.js';

const PUBLIC_REQUESTS_MAX = 10;
/** Ten times as many, as the service multiplies. */
const OWNER_REQUESTS_MAX = 100;

let stage: Stage;
before(async () => {
  stage = await Stage.open({ RATE_LIMIT_PUBLIC: String(PUBLIC_REQUESTS_MAX) });
});
after(() => stage.close());

const request = (page: Page, path: string, count: number) =>
  page.evaluate(
    async (requests) => void (await Promise.all(requests.map((address) => fetch(address)))),
    Array.from({ length: count }, () => path),
  );

test('the desk shows the words of the service, and keeps what was typed', async () => {
  const page = await stage.openPage();
  await stage.signIn(page, '/desk/1/settings/form');
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('Another name');
  // They count although they have no token.
  await request(page, '/api/v1/audit', OWNER_REQUESTS_MAX);
  await page.getByRole('button', { name: 'Save' }).click();

  await page.getByRole('alert').getByText('Too many requests from this address; wait before the next.').waitFor();
  assert.equal(await name.inputValue(), 'Another name');
  await checkPage(page, 'desk-limited');
});

test('the page and the widget tell of it, and the way back keeps what was typed', async () => {
  const page = await stage.openPage();
  await page.goto(`${stage.service.url}/waitlist/1`);
  const email = page.getByLabel('Email');
  await email.fill('ada@example.com');
  // The policy of the page itself lets no script send any.
  const other = await stage.openPage();
  await other.goto(`${stage.service.url}/desk`);
  await request(other, '/waitlist/1', PUBLIC_REQUESTS_MAX);
  await page.getByRole('button', { name: 'Join the waitlist' }).click();

  await page.getByRole('heading', { name: 'Too many requests.' }).waitFor();
  await checkPage(page, 'page-limited');
  await page.goBack();
  assert.equal(await email.inputValue(), 'ada@example.com');
  await page.goto(`${stage.service.url}/docs/widget`);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
});
