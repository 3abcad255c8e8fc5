/** The link of an offer, from the mail to the owner's product, by clicks. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { MailServer } from '../../test/support/mail-server.js';
import { until } from '../../test/support/service-process.js';
import { call, checkPage, logIn, type Site, Stage, startSite } from './harness.js';

let stage: Stage;
let mail: MailServer;
let product: Site;

before(async () => {
  mail = await MailServer.start();
  stage = await Stage.open({ SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com' });
  product = await startSite(() => ({
    html: '<!doctype html><html lang="en"><head><title>Product</title></head><body><main><h1>Welcome in</h1></main></body></html>',
    policy: "default-src 'none'",
  }));
});
after(async () => {
  await Promise.all([product.stop(), mail.stop()]);
  await stage.close();
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

/** A person who was offered a seat, and the address in the mail. */
async function offered(settings: object, email: string) {
  const id = await stage.waitlist({ title: 'The garden', ...settings });
  const { uuid } = await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: id, email } });
  await post(`/api/v1/waitlist/${id}/offer`, { count: 1 });
  const [{ offerLink }] = await mail.mailsTo(email);
  // The time to answer begins with the mail.
  await until(async () => Boolean((await stage.list(id, { status: 'offered' }))[0]?.offer_expires_at));
  return { id, uuid: String(uuid), address: `${stage.service.url}${offerLink}`, code: offerLink!.split('/').at(-1)! };
}

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  return call(stage.service, 'POST', path, { body, token: await logIn(stage.service) });
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts';
  const look = async (page: Page, name: string) => (javaScriptEnabled ? checkPage(page, name) : undefined);

  test(`a person accepts on a phone, and arrives at the product with the code, ${how}`, async () => {
    const url = `${product.url}/in?plan=a&offer=mine#top`;
    const { address, code } = await offered({ offers: { url } }, `ada-${javaScriptEnabled}@example.com`);
    const page = await stage.openPage({ width: 390, origins: [product.url], javaScriptEnabled });
    const arrived = `${product.url}/in?plan=a&offer=${code}#top`;

    await page.goto(address);
    await heading(page, 'A spot is open for you').waitFor();
    await page.getByText('You can accept until').waitFor();
    await look(page, 'page-offer');
    await button(page, 'Accept').click();
    await heading(page, 'Welcome in').waitFor();
    assert.equal(page.url(), arrived);

    await page.goto(address);
    await heading(page, 'You’ve accepted').waitFor();
    await look(page, 'page-offer-accepted');
    await button(page, 'Continue').click();
    await heading(page, 'Welcome in').waitFor();
    assert.equal(page.url(), arrived);
    const { state } = await post('/api/v1/offer/check', { code });
    assert.equal(state, 'accepted');
  });
}

test('a person declines, and finds out where they stand', async () => {
  const { address, code } = await offered({}, 'bob@example.com');
  const page = await stage.openPage();

  await page.goto(address);
  await button(page, 'Decline').click();

  await heading(page, 'You’ve declined').waitFor();
  assert.equal(page.url(), address);
  await checkPage(page, 'page-offer-declined');
  await page.getByRole('link', { name: 'See where I stand' }).click();
  await page.waitForURL('**/status/*');
  const { state } = await post('/api/v1/offer/check', { code });
  assert.equal(state, 'declined');
});

test('a person who answers too late on a phone reads so, and finds out where they stand', async () => {
  const { id, address, code } = await offered({}, 'late@example.com');
  const page = await stage.openPage({ width: 390 });

  await page.goto(address);
  await button(page, 'Accept').waitFor();
  await stage.passOffers(id);
  await button(page, 'Accept').click();

  await heading(page, 'The time to accept is over').waitFor();
  await checkPage(page, 'page-offer-expired');
  await page.getByRole('link', { name: 'See where I stand' }).click();
  await until(async () => (await stage.list(id, { status: 'offboarded' })).length === 1);
  await page.getByText('You’re no longer on the waitlist.').waitFor();
  await checkPage(page, 'page-place-expired');
  const { state } = await post('/api/v1/offer/check', { code });
  assert.equal(state, 'expired');
});

test('a link of an offer that was withdrawn, or is none, says so in the owner’s look and words', async () => {
  const { id, uuid, address } = await offered(
    {
      configuration_style_json: { widget_button_color: '#1f6f50', widget_background_color: '#fff8e7' },
      texts: { offer_withdrawn: 'The bed is taken' },
    },
    'grace@example.com',
  );
  await post(`/api/v1/waitlist/${id}/return`, { signups: [{ uuid }] });
  const page = await stage.openPage({ width: 390 });

  await page.goto(address);
  await heading(page, 'The bed is taken').waitFor();
  await checkPage(page, 'page-offer-withdrawn');
  await page.getByRole('link', { name: 'See where I stand' }).click();
  await heading(page, 'You’re number 1').waitFor();

  await page.goto(`${stage.service.url}/waitlist/${id}/offer/no-code`);
  await heading(page, 'This link doesn’t work anymore').waitFor();
  await checkPage(page, 'page-offer-not-found');
});
