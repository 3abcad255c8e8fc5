/** An owner sends events to a receiver, and sees what arrives. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { answerWith, Receiver, verify } from '../../test/support/receiver.js';
import { until } from '../../test/support/service-process.js';
import { call, checkPage, logIn, Stage } from './harness.js';

const TIMEOUT_MS = 10_000;

let stage: Stage;
let receiver: Receiver;
let page: Page;
/** The one webhook. */
let webhook: Locator;
let secret: string;

before(async () => {
  receiver = await Receiver.start();
  stage = await Stage.open({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
  page = await stage.openPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  webhook = page.getByRole('region', { name: receiver.url });
  await stage.signIn(page, '/desk/1/settings/webhooks');
});
after(async () => {
  await stage.close();
  await receiver.stop();
});

const join = (email: string) => call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: 1, email } });
const webhooks = async () =>
  (await call(stage.service, 'GET', '/api/v1/waitlist/1/webhook', { token: await logIn(stage.service) })) as {
    is_active: boolean;
    events: string[];
  }[];

test('a webhook is added; its secret is shown once', async () => {
  await page.getByText('No webhook yet.').waitFor();
  await checkPage(page, 'desk-webhooks-empty');
  await page.getByRole('button', { name: 'Add a webhook' }).click();
  const dialog = page.getByRole('dialog');
  const address = dialog.getByLabel('Address');
  await address.fill('no address');
  await address.blur();
  await dialog.getByText('Enter an address, such as https://example.com.').waitFor();
  await address.fill(' bücher.example/hook');
  await address.blur();
  assert.equal(await address.inputValue(), 'https://xn--bcher-kva.example/hook');
  // Enter sends what leaving the field would have made of it.
  await address.fill('10.0.0.1/hook');
  await address.press('Enter');
  await dialog.getByText(/that the internet can reach/).waitFor();
  assert.equal(await address.inputValue(), 'https://10.0.0.1/hook');
  await checkPage(page, 'desk-webhooks-add');
  await dialog.getByLabel('Address').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Add the webhook' }).click();
  secret = await dialog.getByLabel('Secret', { exact: true }).inputValue();
  assert.match(secret, /^whsec_/);
  await checkPage(page, 'desk-webhooks-secret');
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await webhook.getByText('all events').waitFor();
  assert.doesNotMatch(await page.content(), /whsec_/);
});

test('a test arrives, signed with the secret', async () => {
  await webhook.getByRole('button', { name: 'Send a test' }).click();
  await webhook.getByRole('row', { name: /test – delivered 1 204/ }).waitFor();
  const [received] = receiver.received;
  assert.ok(received);
  assert.deepEqual(verify(received, secret), { event: 'test', signup: {} });
  await checkPage(page, 'desk-webhooks-deliveries');
});

test('a failed delivery shows why and the next attempt, and arrives once it is sent again', async () => {
  receiver.answer = (_, __, request) => request.socket.destroy();
  await join('ada@example.com');
  await webhook.getByRole('button', { name: 'Refresh' }).click();
  const row = webhook.getByRole('row', { name: /new_signup/ });
  await row.getByText('Connection closed').waitFor();
  receiver.answer = answerWith(503);
  await row.getByRole('checkbox').check();
  await webhook.getByRole('button', { name: 'Send 1 again' }).click();
  // The second time, this notification may still be there.
  await page.getByText('1 event is sent again').waitFor();
  await row.getByText('503').waitFor();
  const [ada] = await stage.list(1, { email: 'ada@example.com' });
  assert.equal(await row.getByRole('link').getAttribute('href'), `/desk/1/people/${String(ada?.uuid)}`);
  await row.getByText(/^in /).waitFor();
  await checkPage(page, 'desk-webhooks-failed');
  receiver.answer = answerWith(204);
  await row.getByRole('checkbox').check();
  await webhook.getByRole('button', { name: 'Send 1 again' }).click();
  await row.getByText('delivered').waitFor();
  const ids = receiver.received.filter(({ event }) => event === 'new_signup').map(({ id }) => id);
  assert.ok(ids.length > 1);
  assert.equal(new Set(ids).size, 1);
});

test('an attempt without a response shows so, also without a reason and with one from a later version', async () => {
  for (const last_failure of [null, 'of_a_later_version']) {
    await page.route('**/delivery?*', async (route) => {
      const response = await route.fetch();
      const deliveries = (await response.json()) as object[];
      await route.fulfill({ response, json: deliveries.map((one) => ({ ...one, last_status: null, last_failure })) });
    });
    await webhook.getByRole('button', { name: 'Refresh' }).click();
    await webhook.getByRole('row', { name: /new_signup .*delivered \d+ No response/ }).waitFor();
    await page.unroute('**/delivery?*');
    await webhook.getByRole('button', { name: 'Refresh' }).click();
    await webhook.getByRole('row', { name: /new_signup .*delivered \d+ 204/ }).waitFor();
  }
});

test('all deliveries since a moment are sent again', async () => {
  const before = receiver.received.length;
  await webhook.getByLabel('Or all since').fill('2026-01-01T00:00');
  await webhook.getByRole('button', { name: 'Send all since then again' }).click();
  await page.getByText('2 events are sent again').waitFor();
  await until(() => receiver.received.length >= before + 2);
});

test('a webhook is edited and turned off; its secret is replaced', async () => {
  await webhook.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit the webhook' });
  await edit.getByLabel('offboarded_signup').check();
  await checkPage(page, 'desk-webhooks-edit');
  await edit.getByRole('button', { name: 'Save' }).click();
  await webhook.getByText('all events').waitFor({ state: 'detached' });
  await edit.waitFor({ state: 'detached' });
  await webhook.getByRole('switch').press('Space');
  await webhook.getByText('Off', { exact: true }).waitFor();
  assert.deepEqual(
    (await webhooks()).map(({ is_active, events }) => [is_active, events]),
    [[false, ['offboarded_signup']]],
  );
  await webhook.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByText('For 24 hours, events are signed with both secrets').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click();
  const shown = page.getByRole('dialog', { name: 'Save the secret of the webhook' });
  assert.notEqual(await shown.getByLabel('Secret', { exact: true }).inputValue(), secret);
  await shown.getByRole('button', { name: 'I have saved it' }).click();
});

test('a webhook is deleted', async () => {
  await webhook.getByRole('button', { name: 'Delete' }).click();
  await checkPage(page, 'desk-webhooks-delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the webhook' }).click();
  await page.getByText('No webhook yet.').waitFor();
  assert.deepEqual(await webhooks(), []);
});
