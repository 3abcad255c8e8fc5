/** The desk's people at the size that the service is made for, by clicks. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { call, logIn, Stage } from './harness.js';

const PEOPLE = 1_000_000;
/** A page of the API. */
const PAGE_SIZE = 100;
const LET_IN = 100;
const ANNA = { email: 'a.c@example.com', first_name: 'Anna', last_name: 'Çelikkaya' };
/** Far less than the height of the rows that are drawn, so that none passes between two looks. */
const WHEEL_PX = 500;
/** Far above what any step takes; a busy disk may stop for seconds after a million inserts. */
const TIMEOUT_MS = 60_000;

/** Seeding takes most of it: about a minute. */
describe('a million people', () => {
  let stage: Stage;
  let page: Page;
  let grid: Locator;
  before(async () => {
    stage = await Stage.open();
    await stage.seed(PEOPLE - 1);
    await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: 1, ...ANNA } });
    page = await stage.openPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    await stage.signIn(page);
    await page.getByRole('link', { name: 'People' }).click();
    grid = page.getByRole('grid', { name: 'People' });
    await grid.getByRole('row').nth(1).waitFor();
  });
  after(() => stage.close());

  const emailOf = (number: number) => `seed-${number}@example.com`;
  /** The row of a person. The address may stand in others too, as that of the referrer. */
  const row = (email: string) =>
    grid.getByRole('row').filter({ has: page.getByRole('link', { name: email, exact: true }) });
  const rowAt = (position: number) => grid.locator(`[aria-rowindex="${position + 1}"]`);
  const emailsOf = async (query: Readonly<Record<string, unknown>>) =>
    (await stage.list(1, { order: 'queue', ...query })).map(({ email }) => String(email));
  const search = async (text: string) => {
    await page.getByRole('searchbox', { name: 'Search people' }).fill(text);
    await page.waitForURL((url) => (url.searchParams.get('search') ?? '') === text);
  };
  /** The table and the counts above it, once they show so many. */
  const shows = async ({ inLine, letIn }: { inLine: number; letIn: number }) => {
    const status = page.getByRole('radiogroup', { name: 'Status' });
    await status.getByText(`In line ${inLine.toLocaleString('en')}`, { exact: true }).waitFor();
    await status.getByText(`No longer in line ${letIn.toLocaleString('en')}`, { exact: true }).waitFor();
    await page.locator(`[role="grid"][aria-rowcount="${inLine + 1}"]`).waitFor();
  };

  test('are listed in the order of the queue, and further pages come into view by scrolling', async () => {
    await shows({ inLine: PEOPLE, letIn: 0 });
    await grid.hover();
    const third = rowAt(2 * PAGE_SIZE + 1);
    while (!(await third.isVisible())) {
      await page.mouse.wheel(0, WHEEL_PX);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }

    const [email] = await emailsOf({ offset: 2 * PAGE_SIZE, limit: 1 });
    await third.getByText(email ?? '', { exact: true }).waitFor();
    assert.ok((await grid.getByRole('row').count()) < PAGE_SIZE);
  });

  test('are found by the beginning of an address, and by all of it', async () => {
    await search('seed-77777');
    await page.getByText('All 11 people are shown.').waitFor();
    await row(emailOf(77_777)).waitFor();
    for (let digit = 0; digit < 10; digit += 1) await row(emailOf(777_770 + digit)).waitFor();

    await search(emailOf(654_321));
    await row(emailOf(77_777)).waitFor({ state: 'detached' });
    await row(emailOf(654_321)).waitFor();
    assert.equal(await grid.getByRole('row').count(), 1 + 1);
  });

  test('are found by their name, the first or the last name first', async () => {
    await search('Anna Berg');
    await row(emailOf(0)).waitFor({ state: 'detached' });
    const names = grid.getByRole('row').filter({ hasNotText: 'Position' });
    await names.filter({ hasText: 'Anna Berg' }).nth(9).waitFor();
    assert.equal(await names.filter({ hasNotText: 'Anna Berg' }).count(), 0);

    await search('Anna Çelikkaya');
    await row(ANNA.email).waitFor();
    assert.equal(await grid.getByRole('row').count(), 1 + 1);
    await search('celikkaya');
    await row(ANNA.email).waitFor();
    await search('Anna Çelikkayaz');
    await page.getByText('Nobody in line matches “Anna Çelikkayaz”.').waitFor();
    await search('');
  });

  /** A panel, once it shows this number. It may show the one that it knew before for a moment. */
  const showsNumber = (panel: Locator, shown: number) =>
    panel.getByText(`Number ${shown.toLocaleString('en')}`, { exact: true }).waitFor();
  let number: number;

  test('are opened with their number in line', async () => {
    await search(emailOf(654_321));
    await row(emailOf(654_321)).getByRole('link').click();
    const panel = page.getByRole('dialog');
    await panel.getByText('Entered the line as number 654,322').waitFor();
    const [found] = await stage.list(1, { search: emailOf(654_321) });
    number = Number(found?.priority) + 1;
    await showsNumber(panel, number);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await search('');
  });

  test('are let in from the front, 100 at once, once it is confirmed; table and counts follow', async () => {
    const first = await emailsOf({ limit: LET_IN });
    await shows({ inLine: PEOPLE, letIn: 0 });
    await page.getByRole('button', { name: 'Let next people in' }).click();
    const dialog = page.getByRole('dialog', { name: 'Let next people in' });
    await dialog.getByLabel('How many').fill(String(LET_IN));
    await dialog.getByText('100 people leave the line. You can put them back in line later.').waitFor();
    await dialog
      .getByRole('listitem')
      .first()
      .getByText(first[0] as string, { exact: true })
      .waitFor();
    await dialog.getByRole('button', { name: 'Let 100 people in' }).click();
    const result = page.getByRole('dialog', { name: '100 people let in' });
    await result.getByRole('button', { name: 'Copy contacts' }).click();
    await result.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(copied.split('\n'), first);
    await result.getByRole('button', { name: 'Done' }).click();

    await shows({ inLine: PEOPLE - LET_IN, letIn: LET_IN });
    const [next] = await emailsOf({ limit: 1 });
    assert.ok(!first.includes(next ?? ''));
    await rowAt(1)
      .getByText(next ?? '', { exact: true })
      .waitFor();
    await row(first[0] ?? '').waitFor({ state: 'detached' });

    await page
      .getByRole('radiogroup', { name: 'Status' })
      .getByText(/^No longer in line/)
      .click();
    await row(first[0] ?? '').waitFor();
    assert.equal(await grid.getAttribute('aria-rowcount'), String(1 + LET_IN));
  });

  test('move up by as many', async () => {
    await page
      .getByRole('radiogroup', { name: 'Status' })
      .getByText(/^In line/)
      .click();
    await shows({ inLine: PEOPLE - LET_IN, letIn: LET_IN });
    await search(emailOf(654_321));
    await row(emailOf(654_321)).getByRole('link').click();
    const panel = page.getByRole('dialog');
    await panel.getByText('Entered the line as number 654,322').waitFor();
    await showsNumber(panel, number - LET_IN);
    const token = await logIn(stage.service);
    const { statistics } = await call(stage.service, 'GET', '/api/v1/waitlist/1', { token });
    assert.equal(statistics.current_signups, PEOPLE - LET_IN);
  });
});
