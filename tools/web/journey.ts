/**
 * A visitor and an owner, by clicks, at a service that runs elsewhere and whose waitlist demands a verified email:
 *   tsx tools/web/journey.ts URL ADDRESS:PORT WAITLIST_ID MAIL_ADDRESS:PORT
 * The browser reaches the host of URL at ADDRESS:PORT, with any certificate. MAIL_ADDRESS:PORT: where this program
 * receives the service's mails. It signs in as `OWNER` of test/support. drills/kubernetes.ts runs it.
 */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { MailServer } from '../../test/support/mail-server.js';
import { OWNER } from '../../test/support/service-process.js';
import { type Service, Stage, startSite } from './harness.js';

const [url, target, id, mailTarget] = process.argv.slice(2) as [string, string, string, string];
const { hostname } = new URL(url);
const [mailAddress, mailPort] = mailTarget.split(':') as [string, string];
const IMPORTED = 3;

const mail = await MailServer.start(Number(mailPort), mailAddress);
const site = await startSite(() => ({
  html: `<!doctype html>
<html lang="en">
  <head><title>Another site</title><script src="${url}/widget.js"></script></head>
  <body><main><h1>Another site</h1><waitlist-signup waitlist-id="${id}"></waitlist-signup></main></body>
</html>`,
  policy: `default-src 'none'; script-src ${url}; connect-src ${url}; base-uri 'none'`,
}));
const service = { url, ...OWNER, stop: async () => undefined } as Service;
const stage = await Stage.at(service, `--host-resolver-rules=MAP ${hostname} ${target}`, '--ignore-certificate-errors');
try {
  await joinAndConfirm(await open(`${url}/waitlist/${id}`), 'page@example.com');
  await joinAndConfirm(await open(site.url), 'widget@example.com');
  await workAtTheDesk();
  const docs = await open(`${url}/docs`);
  await docs
    .getByRole('heading', { name: /waitlist/i })
    .first()
    .waitFor();
} finally {
  await Promise.all([site.stop(), mail.stop()]);
  await stage.close();
}

async function open(address: string): Promise<Page> {
  const page = await stage.openPage({ origins: [site.url] });
  await page.goto(address);
  return page;
}

/** On the hosted page or by the widget, then by the link of the mail. */
async function joinAndConfirm(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Join the waitlist' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const [{ text }] = await mail.mailsTo(email);
  const link = text?.split(/\s/).find((word) => word.startsWith(`${url}/waitlist/${id}/verify/`));
  assert.ok(link, `The mail has no link to ${url}: ${text}`);
  const verification = await open(link);
  await verification.getByRole('button', { name: 'Confirm email' }).click();
  await verification.getByRole('heading', { name: /^You’re number \d+$/ }).waitFor();
}

async function workAtTheDesk(): Promise<void> {
  const page = await stage.openPage();
  await stage.signIn(page, `/desk/${id}/transfer`);
  await page.getByRole('heading', { name: 'Import and export' }).waitFor();
  const people = Array.from({ length: IMPORTED }, (_, n) => `imported-${n}@example.com`);
  const buffer = Buffer.from(['email', ...people].join('\n'));
  await page.locator('input[type=file]').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByRole('button', { name: `Import ${IMPORTED} people` }).click();
  await page.getByText(`${IMPORTED} people were imported.`).waitFor();
  await page.goto(`${url}/desk/${id}/people`);
  for (const email of ['page@example.com', 'widget@example.com', ...people])
    await page.getByText(email, { exact: true }).first().waitFor();
}
