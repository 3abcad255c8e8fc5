/**
 * `npm run screenshots`: takes the pictures of the README and the guides, of an invented waitlist, into docs/images.
 * With `--check` it takes none and fails if a page no longer shows what it showed when its picture was taken. It
 * compares the accessibility trees of the pages, which pictures.json keeps beside the hashes of the pictures: unlike
 * pixels, they are the same with the fonts of any machine. It does not see a change of styles alone.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { inventPeople, REFERRAL_TOKEN, SETTINGS } from '../../scripts/demo.js';
import { ROOT } from '../contract/service.js';
import { call, logIn, Stage, startSite } from './harness.js';

const { check: isCheck } = parseArgs({ options: { check: { type: 'boolean', default: false } } }).values;
const IMAGES = join(ROOT, 'docs/images');
const RECORD = join(IMAGES, 'pictures.json');
const PAGE_VIEWS = 4_700;
const PAGE_VIEWS_AT_ONCE = 20;
const SITE = 'https://fieldnotes.example';
const WEBHOOK = `${SITE}/hooks/waitlist`;
const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';

/** What differs between two runs: days, times, ports, and what is generated. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`\b(${MONTHS})[a-z]* \d{1,2}(, \d{4})?|\b\d{1,2} (${MONTHS})[a-z]*( \d{4})?`, 'g'), 'DAY'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'DAY'],
  [/\b\d{1,2}:\d\d(:\d\d)?( [AP]M)?/g, 'TIME'],
  [/\b(\d+|an?|last|this) (second|minute|hour|day|week|month)s?( ago)?|\b(yesterday|today|just now)/gi, 'TIME'],
  [/localhost:\d+|127\.0\.0\.1:\d+/g, 'HOST'],
  [/\b[\dA-Z]{12}\b/g, 'TOKEN'],
  [/\bv?\d+\.\d+\.\d+(-dev)?\b/g, 'VERSION'],
];

interface Shown {
  readonly sha256: string;
  readonly shows: readonly string[];
}
const record: Record<string, Shown> = {};

const stage = await Stage.open({ SMTP_URL: 'smtp://localhost:1', MAIL_FROM: 'hello@fieldnotes.example' });
const { service } = stage;
const site = await startSite(() => ({
  html: `<!doctype html>
<html lang="en">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Fieldnotes</title>
  <style>
    body { margin: 0 auto; max-width: 60rem; padding: 4rem 2rem; font: 1.125rem/1.6 Georgia, serif; background: #f6f1e7; color: #2b2a26 }
    main { display: grid; grid-template-columns: 1fr 24rem; gap: 4rem; align-items: center }
    h1 { font-size: 3rem; line-height: 1.1; margin: 0 0 1rem }
    waitlist-signup { font-family: system-ui, sans-serif; font-size: 1rem }
  </style>
  <main>
    <div><h1>Notes that survive the rain</h1><p>Fieldnotes is a notebook for people who work outdoors.</p></div>
    <waitlist-signup waitlist-id="1"></waitlist-signup>
  </main>
  <script src="${service.url}/widget.js" async></script>
</html>`,
  policy: "default-src 'self' 'unsafe-inline' http://localhost:*",
}));
try {
  await stage.configure(1, {
    ...SETTINGS,
    waitlist_url_location: `${SITE}/join`,
    // This types faster than people do.
    fraud: { minimum_seconds: null },
  });
  await stage.importCsv(1, inventPeople());
  const token = await logIn(service);
  const webhook = { url: WEBHOOK, events: ['new_signup', 'offboarded_signup'] };
  await call(service, 'POST', '/api/v1/waitlist/1/webhook', { body: webhook, token, status: 201 });
  const view = { waitlist_id: 1, location: `${SITE}/join`, referrer: '' };
  const send = () => call(service, 'POST', '/api/v1/widget_heartbeats', { body: view });
  for (let sent = 0; sent < PAGE_VIEWS; sent += PAGE_VIEWS_AT_ONCE)
    await Promise.all(Array.from({ length: PAGE_VIEWS_AT_ONCE }, send));

  const visitor = await stage.openPage({ origins: [site.url] });
  await visitor.goto(site.url);
  await visitor.getByRole('button', { name: 'Join' }).waitFor();
  await take(visitor, 'widget', { height: 640 });

  const phone = await stage.openPage({ width: 390 });
  await phone.goto(`${service.url}/waitlist/1?ref_id=${REFERRAL_TOKEN}`);
  await take(phone, 'page');
  await phone.getByLabel('First name').fill('Mae');
  await phone.getByLabel('Email').fill('mae@example.com');
  await phone.getByRole('button', { name: 'Join' }).click();
  await phone.getByText('Your link to share').waitFor();
  await take(phone, 'page-joined');

  const desk = await stage.openPage();
  await stage.signIn(desk, '/desk/1/overview');
  await takeDesk(desk, 'overview', 'desk-overview');
  await takeDesk(desk, 'people', 'desk-people');
  await takeDesk(desk, 'settings/appearance', 'desk-appearance');
  await takeDesk(desk, 'settings/trust', 'desk-trust');
  await takeDesk(desk, 'settings/webhooks', 'desk-webhooks');
  await desk.emulateMedia({ colorScheme: 'dark' });
  await takeDesk(desk, 'overview', 'desk-dark');
  await desk.emulateMedia({ colorScheme: 'light' });
  await desk.setViewportSize({ width: 390, height: 844 });
  await takeDesk(desk, 'people', 'desk-phone');

  const docs = await stage.openPage();
  await docs.goto(`${service.url}/docs`);
  await docs.locator('[id$="-createSignup"].opblock').waitFor();
  // Without the operations, most of which are below the picture.
  await take(docs, 'docs', { height: 1000, checked: '.information-container, .opblock-tag' });

  if (isCheck) await compare();
  else await writeFile(RECORD, `${JSON.stringify(record, null, 2)}\n`);
} finally {
  await site.stop();
  await stage.close();
}

async function takeDesk(page: Page, path: string, name: string): Promise<void> {
  await page.goto(`${service.url}/desk/1/${path}`);
  await page.getByRole('main').getByRole('heading').first().waitFor();
  await take(page, name, { height: page.viewportSize()?.height });
}

interface Options {
  /** Of the page's top that is shown; without it, all of the page. */
  readonly height?: number;
  /** What is compared. */
  readonly checked?: string;
}

async function take(page: Page, name: string, { height, checked = 'body' }: Options = {}): Promise<void> {
  const width = page.viewportSize()?.width ?? 0;
  if (height !== undefined) await page.setViewportSize({ width, height });
  await page.waitForLoadState('networkidle');
  await page.mouse.move(0, 0);
  const parts = await page.locator(checked).all();
  const trees = await Promise.all(parts.map((part) => part.ariaSnapshot()));
  const lines = trees.join('\n').split('\n');
  const shows = lines.filter((line) => !line.trim().startsWith('- /url: ')).map(withoutChanging);
  const picture = isCheck
    ? await readFile(join(IMAGES, `${name}.png`))
    : await page.screenshot({ path: join(IMAGES, `${name}.png`), fullPage: height === undefined });
  record[name] = { sha256: createHash('sha256').update(picture).digest('hex'), shows };
}

function withoutChanging(line: string): string {
  return CHANGING.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), line);
}

async function compare(): Promise<void> {
  const recorded = JSON.parse(await readFile(RECORD, 'utf8')) as typeof record;
  const remedy = 'Run `npm run screenshots`, look at the pictures, and commit docs/images.';
  for (const [name, shown] of Object.entries(record)) {
    const { sha256, shows } = recorded[name] ?? {};
    if (shows?.join() !== shown.shows.join()) {
      // Shows the lines that differ.
      assert.deepEqual(shown.shows, shows, `docs/images/${name}.png does not show the page as it is. ${remedy}`);
    }
    assert.equal(shown.sha256, sha256, `docs/images/${name}.png is not the picture of pictures.json. ${remedy}`);
  }
}
