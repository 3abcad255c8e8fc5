/** What people see where the service limits the requests of their address. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkPage, Stage } from './harness.js';

const REQUESTS_MAX = 3;
const OWNER_REQUESTS_MAX = 10 * REQUESTS_MAX;

let stage: Stage;
before(async () => {
  stage = await Stage.open({ RATE_LIMIT_PUBLIC: String(REQUESTS_MAX) });
});
after(() => stage.close());

test('the page and the widget tell of too many requests, and the form keeps what was typed', async () => {
  const page = await stage.openPage();
  const address = `${stage.service.url}/waitlist/1`;
  for (let request = 0; request < REQUESTS_MAX; request += 1) await page.goto(address);
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByRole('button', { name: 'Join the waitlist' }).click();

  await page.getByRole('alert').getByText('There were too many requests.').waitFor();
  assert.equal(await page.getByLabel('Email').inputValue(), 'ada@example.com');
  await checkPage(page, 'page-limited-form');
  await page.goto(address);
  await page.getByRole('heading', { name: 'There were too many requests.' }).waitFor();
  await checkPage(page, 'page-limited');
  await page.goto(`${stage.service.url}/docs/widget?waitlist_id=1`);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
});

test('the desk shows the words of the service, and keeps what was typed', async () => {
  const page = await stage.openPage();
  await stage.signIn(page, '/desk/1/settings/form');
  const name = page.getByLabel('Name').first();
  await name.fill('Another name');
  // Each counts before it is refused, because it has no token.
  await page.evaluate((count) => Promise.all(Array.from({ length: count }, () => fetch('/api/v1/audit'))), OWNER_REQUESTS_MAX); // prettier-ignore
  await page.getByRole('button', { name: 'Save' }).click();

  await page.getByRole('alert').getByText('Too many requests from this address; wait before the next.').waitFor();
  assert.equal(await name.inputValue(), 'Another name');
  await checkPage(page, 'desk-limited');
});
