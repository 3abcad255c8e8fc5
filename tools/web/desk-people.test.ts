/** The desk's people, by clicks and by keys, at the widths of a laptop and of a phone. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page, Route } from 'playwright-core';
import { call, checkPage, logIn, Stage } from './harness.js';

const PEOPLE = 600;
/** A page of the API; more are fetched when their rows come into view. */
const PAGE_SIZE = 100;
const TIMEOUT_MS = 10_000;
const TOO_MANY = {
  status: 429,
  contentType: 'application/problem+json',
  body: JSON.stringify({ status: 429, error_code: 'RATE_LIMITED', detail: 'Too many requests.' }),
};
const HOSTILE = { email: 'hostile@example.com', first_name: '<img src=x onerror=alert(1)>', last_name: '\u202Egnirts' };
const ANNA = { email: 'a.oez@example.com', first_name: 'Anna-Lena', last_name: 'Öz' };
const REFERRER = { email: 'referrer@example.com' };

interface Journey {
  readonly page: Page;
  readonly grid: Locator;
  row(name: string): Locator;
}

describe('the people of a waitlist', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
    await stage.importPeople(PEOPLE);
    const join = async (person: object) =>
      call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: 1, ...person } });
    const { referral_link } = await join(REFERRER);
    for (let friend = 1; friend <= 20; friend += 1)
      await join({ email: `friend-${friend}@example.org`, referral_link });
    for (const person of [HOSTILE, ANNA, { email: 'number-one@example.com' }]) await join(person);
  });
  after(() => stage.close());

  const open = async (width: 1280 | 390): Promise<Journey> => {
    const page = await stage.openPage({ width });
    page.setDefaultTimeout(TIMEOUT_MS);
    await stage.signIn(page, '/desk/1/people');
    const grid = page.getByRole('grid', { name: 'People' });
    await grid.getByRole('row').nth(1).waitFor();
    return { page, grid, row: (name) => grid.getByRole('row', { name }) };
  };
  const statistics = async (): Promise<{ total_signups: number; current_signups: number }> =>
    (await call(stage.service, 'GET', '/api/v1/waitlist/1', { token: await logIn(stage.service) })).statistics;
  const search = async ({ page }: Journey, text: string) => {
    await page.keyboard.press('/');
    const field = page.getByRole('searchbox');
    assert.equal(await field.evaluate((element) => element === document.activeElement), true);
    await field.fill(text);
    await page.waitForURL((url) => (url.searchParams.get('search') ?? '') === text);
  };

  /** A laptop has tabs, a phone a list. */
  const showStatus = async ({ page }: Journey, label: string, value: string) => {
    const list = page.getByRole('combobox', { name: 'Status' });
    const tab = page.getByRole('radiogroup', { name: 'Status' }).getByText(new RegExp(`^${label}`));
    await list.or(tab).first().waitFor();
    if (await list.isVisible()) await list.selectOption(value);
    else await tab.click();
  };

  for (const width of [1280, 390] as const) {
    describe(`at ${width} px`, () => {
      let journey: Journey;
      /** Those before are let in at the other width. */
      const first = width === 1280 ? 0 : 110;
      before(async () => {
        journey = await open(width);
      });
      const check = (picture?: string) => checkPage(journey.page, picture, { widths: [width], fullPage: false });

      test('are listed in the order of the queue, and further pages come into view by scrolling', async () => {
        const { page, grid } = journey;
        await check('people');
        const total = Number(await grid.getAttribute('aria-rowcount')) - 1;
        assert.equal(total, (await statistics()).current_signups);
        await grid.getByRole('row').nth(1).focus();
        const last = grid.locator(`[aria-rowindex="${3 * PAGE_SIZE + 1}"]`);
        while (!(await last.isVisible())) {
          await page.keyboard.press('End');
          await page.evaluate(() => new Promise(requestAnimationFrame));
        }
        // Only the rows in view are drawn.
        assert.ok((await grid.getByRole('row').count()) < PAGE_SIZE);
        await page.keyboard.press('Home');
        await grid.locator('[aria-rowindex="2"]:focus').waitFor();
      });

      test('are found by the beginning of an address; the address of the page keeps the search', async () => {
        const { page, row } = journey;
        await search(journey, 'person-25');
        await row('person-250@example.com').waitFor();
        await row('person-300@example.com').waitFor({ state: 'detached' });
        await page.reload();
        await row('person-250@example.com').waitFor();
        await search(journey, 'nobody@');
        await page.getByText('Nobody in line matches “nobody@”.').waitFor();
        await check();
        await page.getByRole('button', { name: 'Show everybody' }).click();
        await row(`person-${first + 2}@example.com`).waitFor();
      });

      test('are found by their name, in either order of its parts', async () => {
        const { row } = journey;
        for (const name of ['Anna-Lena Öz', 'oz anna', 'Öz, Anna-Lena']) {
          await search(journey, name);
          await row(ANNA.email).waitFor();
          assert.equal(await journey.grid.getByRole('row').count(), 1 + 1);
        }
        // Emails that begin with a word come before the names that do.
        await search(journey, 'number');
        await row('number-one@example.com').and(journey.grid.locator('[aria-rowindex="2"]')).waitFor();
        await row('Person Number').first().waitFor();
        await search(journey, '');
      });

      test('are filtered by their referrals, and sorted by joining or by how many they referred', async () => {
        const { page, row } = journey;
        const some = `person-${first + 2}@example.com`;
        await page.getByLabel('Referrals', { exact: true }).selectOption('Referred');
        await row(some).waitFor({ state: 'detached' });
        await row(`person-${first + 10}@example.com`).waitFor();
        await page.getByLabel('Referrals', { exact: true }).selectOption('Everybody');
        await row(some).waitFor();
        if (width === 1280) await page.getByRole('columnheader', { name: 'Joined' }).getByRole('button').click();
        else await page.getByLabel('Sort by').selectOption('By joining');
        await page.waitForURL((url) => url.searchParams.get('order') === 'joined');
        await page.goBack();
        await page.waitForURL((url) => !url.searchParams.has('order'));
        if (width === 1280) await page.getByRole('columnheader', { name: 'Referrals' }).getByRole('button').click();
        else await page.getByLabel('Sort by').selectOption('By referrals');
        // The first person of the import referred more; they are let in at the other width.
        await row(REFERRER.email)
          .and(journey.grid.locator(`[aria-rowindex="${width === 1280 ? 3 : 2}"]`))
          .waitFor();
        await check('by-referrals');
        await page.goBack();
        await page.waitForURL((url) => !url.searchParams.has('order'));
      });

      test('are opened by the keyboard: what made the position, the referrals, the history', async () => {
        const { page, row } = journey;
        await search(journey, 'person-250@');
        await row('person-250@example.com').focus();
        await page.keyboard.press('Enter');
        const panel = page.getByRole('dialog');
        await panel.getByText('Entered the line as number 250').waitFor();
        await panel.getByRole('link', { name: 'person-1@example.com' }).waitFor();
        const link = await panel.getByRole('link', { name: 'Open their page' }).getAttribute('href');
        await panel.getByRole('button', { name: 'Copy address of their page' }).click();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link);
        await check('person');
        const theirs = await stage.openPage();
        await theirs.goto(link ?? '');
        await theirs.getByText(/You.re number/).waitFor();
        await theirs.context().close();
        await panel.getByRole('link', { name: 'person-1@example.com' }).click();
        await panel.getByText(/referrals × 3 places: \d+ places forward/).waitFor();
        await panel
          .getByRole('link', { name: /^Show all/ })
          .first()
          .waitFor();
        await page.goBack();
        await panel.getByText('Entered the line as number 250').waitFor();
        await page.keyboard.press('Escape');
        await panel.waitFor({ state: 'detached' });
        await row('person-250@example.com').and(page.locator(':focus')).waitFor();
      });

      test('are corrected; a fault stands beside its field, and what was typed stays', async () => {
        const { page, row } = journey;
        const email = `person-${first + 251}@example.com`;
        await search(journey, email);
        await row(email).click();
        const panel = page.getByRole('dialog');
        await panel.getByRole('button', { name: 'Edit' }).click();
        await panel.getByLabel('Email', { exact: true }).fill('person-400@example.com');
        await panel.getByLabel('First name').fill('Emmy');
        await panel.getByRole('button', { name: 'Save' }).click();
        await panel.getByText('Somebody else on this list has this email.').waitFor();
        const other = await panel.getByRole('link', { name: 'Show them' }).getAttribute('href');
        const [holder] = await stage.list(1, { email: 'person-400@example.com' });
        assert.equal(other, `/desk/1/people/${String(holder?.uuid)}`);
        assert.equal(await panel.getByLabel('Email', { exact: true }).getAttribute('aria-invalid'), 'true');
        assert.equal(await panel.getByLabel('First name').inputValue(), 'Emmy');
        await check();
        await panel.getByLabel('Email', { exact: true }).fill(email);
        await panel.getByRole('button', { name: 'Save' }).click();
        await panel.getByText('Emmy Number').waitFor();
        await panel.getByText('Edited or moved').waitFor();
      });

      test('are edited by keys alone; the focus comes back to “Edit”', async () => {
        const { page } = journey;
        const panel = page.getByRole('dialog').first();
        const focus = (role: 'button' | 'textbox', name: string) =>
          panel.getByRole(role, { name, exact: true }).and(page.locator(':focus')).waitFor();
        await focus('button', 'Edit');
        await page.keyboard.press('Enter');
        await focus('textbox', 'Email');
        await panel.getByRole('button', { name: 'Cancel' }).press('Enter');
        await focus('button', 'Edit');
        await page.keyboard.press('Enter');
        await focus('textbox', 'Email');
        await panel.getByLabel('First name').fill('Emma');
        await page.route('**/api/v1/signup/*', (route) => route.fulfill(TOO_MANY), { times: 1 });
        await panel.getByRole('button', { name: 'Save' }).press('Enter');
        await panel.getByRole('alert').getByText('Too many requests.').waitFor();
        await focus('button', 'Save');
        await page.keyboard.press('Enter');
        await panel.getByText('Emma Number').waitFor();
        await focus('button', 'Edit');
      });

      test('are moved by what is typed last, and once, however many attempts it takes', async () => {
        const { page } = journey;
        const panel = page.getByRole('dialog').first();
        const before = Number(/\d+/.exec((await panel.getByText(/^Number \d+$/).textContent()) ?? '')?.[0]);
        await panel.getByRole('button', { name: 'Move' }).click();
        const dialog = page.getByRole('dialog', { name: 'Move' });
        const refuse = (route: Route) => route.fulfill(TOO_MANY);
        await page.route('**/api/v1/signup/*', refuse, { times: 1 });
        await dialog.getByLabel('Places forward').fill('3');
        await dialog.getByRole('button', { name: 'Move 3 forward' }).click();
        await dialog.getByRole('alert').getByText('Too many requests.').waitFor();
        // Nothing was done, so another number may follow.
        await dialog.getByLabel('Places forward').fill('5');
        await dialog.getByText(`from number ${before} to about number ${before - 5}`).waitFor();
        await check();
        await page.route('**/api/v1/signup/*', (route) => route.fetch().then(() => route.abort()), { times: 1 });
        await dialog.getByRole('button', { name: 'Move 5 forward' }).click();
        await dialog.getByText('It is safe to try again').waitFor();
        await page.route('**/api/v1/signup/*', refuse, { times: 1 });
        await dialog.getByRole('button', { name: 'Try again' }).click();
        await dialog.getByRole('alert').getByText('Too many requests.').waitFor();
        // The first attempt may have arrived all the same, so the number stays.
        assert.equal(await dialog.getByLabel('Places forward').isEditable(), false);
        await dialog.getByRole('button', { name: 'Try again' }).click();
        await panel.getByText(`Number ${before - 5}`, { exact: true }).waitFor();
        await panel.getByText('You granted 5 places').waitFor();
      });

      test('are erased once their address is typed', async () => {
        const { page } = journey;
        const panel = page.getByRole('dialog').first();
        const email = new URL(page.url()).searchParams.get('search') as string;
        await panel.getByRole('button', { name: 'Erase' }).click();
        const dialog = page.getByRole('dialog', { name: 'Erase this person?' });
        const erase = dialog.getByRole('button', { name: 'Erase this person' });
        assert.equal(await erase.isDisabled(), true);
        await dialog.getByRole('textbox').fill(email);
        await check();
        await erase.click();
        await page.getByText(`Nobody in line matches “${email}”.`).waitFor();
        await search(journey, '');
      });

      test('are selected and no longer selected by keys alone; the focus comes back to their row', async () => {
        const { page, grid } = journey;
        const bar = page.getByRole('group', { name: 'Selected people' });
        // So that the bar fades.
        await page.emulateMedia({ reducedMotion: 'no-preference' });
        await grid.getByRole('row').nth(2).focus();
        await page.keyboard.press('Space');
        await bar.getByText('1 selected').waitFor();
        await bar.getByRole('button', { name: 'Clear selection' }).press('Enter');
        await bar.waitFor({ state: 'detached' });
        await grid.locator('[aria-rowindex="3"]:focus').waitFor();
        await page.emulateMedia({ reducedMotion: 'reduce' });
      });

      test('are let in when they are selected, and named with what to do next', async () => {
        const { page, grid } = journey;
        const before = await statistics();
        await grid.getByRole('row').nth(1).focus();
        for (let person = 0; person < 3; person += 1) {
          await page.keyboard.press('Space');
          await page.keyboard.press('ArrowDown');
        }
        await page.getByRole('group', { name: 'Selected people' }).getByText('3 selected').waitFor();
        await check();
        await page.getByRole('button', { name: 'Let in', exact: true }).click();
        const dialog = page.getByRole('dialog', { name: 'Let 3 people in?' });
        await dialog.getByText('You can put them back in line later.').waitFor();
        await dialog.getByText('No mail goes out').waitFor();
        await check();
        await dialog.getByRole('button', { name: 'Let 3 people in' }).click();
        const result = page.getByRole('dialog', { name: '3 people let in' });
        await result.getByText('No mail went out.').waitFor();
        await result.getByRole('link', { name: 'How this service can send mail' }).waitFor();
        await check();
        await result.getByRole('button', { name: 'Copy contacts' }).click();
        await result.getByRole('button', { name: 'Copied' }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        assert.equal(copied.split('\n').length, 3);
        await result.getByRole('button', { name: 'Done' }).click();
        // The bar with the button is gone, so the focus goes back to the rows that were selected.
        await grid.locator('[role="row"]:focus').waitFor();
        assert.equal((await statistics()).current_signups, before.current_signups - 3);
      });

      test('are let in by keys alone, and by no stray Enter; the focus comes back where it was', async () => {
        const { page } = journey;
        const before = await statistics();
        const button = page.getByRole('button', { name: 'Let next people in' });
        const focused = (label: string) => page.getByRole('button', { name: label }).and(page.locator(':focus'));
        const dialog = page.getByRole('dialog', { name: 'Let next people in' });
        const field = dialog.getByRole('textbox', { name: 'How many' }).and(page.locator(':focus'));
        await button.focus();
        // Held down, it repeats.
        await page.keyboard.down('Enter');
        await field.waitFor();
        for (let repeats = 0; repeats < 3; repeats += 1) await page.keyboard.down('Enter');
        await page.keyboard.up('Enter');
        await dialog.getByRole('button', { name: 'Let people in' }).waitFor();
        await check('let-in-empty');
        await page.keyboard.press('Escape');
        await focused('Let next people in').waitFor();

        await page.keyboard.press('Enter');
        await field.waitFor();
        await page.keyboard.type('2');
        await page.keyboard.press('Enter');
        await focused('Let 2 people in').waitFor();
        assert.equal((await statistics()).current_signups, before.current_signups);
        await page.keyboard.press('Enter');
        const result = page.getByRole('dialog', { name: '2 people let in' });
        await result.waitFor();
        assert.equal((await statistics()).current_signups, before.current_signups - 2);
        await page.keyboard.press('Escape');
        await focused('Let next people in').waitFor();
      });

      test('are let in from the front, 100 at once; after a lost answer, to try again lets in no more', async () => {
        const { page } = journey;
        const before = await statistics();
        await page.getByRole('button', { name: 'Let next people in' }).click();
        const dialog = page.getByRole('dialog', { name: 'Let next people in' });
        await dialog.getByRole('listitem').nth(4).waitFor();
        await dialog.getByLabel('How many').fill('100');
        await dialog.getByText('100 people leave the line. You can put them back in line later.').waitFor();
        await check('let-in');
        await page.route(
          '**/api/v1/waiter',
          async (route) => {
            await route.fetch();
            await route.abort();
          },
          { times: 1 },
        );
        await dialog.getByRole('button', { name: 'Let 100 people in' }).click();
        await dialog.getByText('It is safe to try again').waitFor();
        await dialog.getByRole('button', { name: 'Try again' }).click();
        const result = page.getByRole('dialog', { name: '100 people let in' });
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          result.getByRole('button', { name: 'Download CSV' }).click(),
        ]);
        const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
        assert.equal(lines.length, 101);
        assert.match(lines[0] as string, /^number,email,/);
        await result.getByRole('button', { name: 'Done' }).click();
        assert.equal((await statistics()).current_signups, before.current_signups - 100);
        await showStatus(journey, 'No longer in line', 'offboarded');
        await page.waitForURL((url) => url.searchParams.get('status') === 'offboarded');
        await journey.grid.getByRole('row').nth(1).waitFor();
        await check();
      });

      test('are shown under their own waitlist only', async () => {
        const { page } = journey;
        const other = await stage.waitlist();
        const body = { waitlist_id: other, email: 'elsewhere@example.com' };
        const { uuid } = (await call(stage.service, 'POST', '/api/v1/signup', { body })) as { uuid: string };
        await page.goto(`${stage.service.url}/desk/${other}/people/${uuid}`);
        await page.getByRole('dialog').getByText('Entered the line as number 1').waitFor();
        await page.goto(`${stage.service.url}/desk/1/people/${uuid}`);
        await page.getByRole('dialog').getByText('Nobody on this waitlist has this address.').waitFor();
      });

      test('are erased by the address that is shown, even if it was given with white space around it', async () => {
        const { page } = journey;
        const given = { waitlist_id: 1, email: ' spaced@example.com ' };
        const { uuid, email } = await call(stage.service, 'POST', '/api/v1/signup', { body: given });
        assert.equal(email, given.email);
        await page.goto(`${stage.service.url}/desk/1/people/${uuid}`);
        await page.getByRole('button', { name: 'Erase' }).click();
        const dialog = page.getByRole('dialog', { name: 'Erase this person?' });
        await dialog.getByLabel('Type spaced@example.com to confirm').fill('spaced@example.com');
        await dialog.getByRole('button', { name: 'Erase this person' }).click();
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await call(stage.service, 'GET', `/api/v1/signup/${uuid}`, { token: await logIn(stage.service), status: 404 });
      });

      test('are texts, whatever they typed', async () => {
        const { page } = journey;
        await page.goto(`${stage.service.url}/desk/1/people?search=hostile`);
        await journey.row(HOSTILE.email).click();
        await page.getByRole('dialog').getByText(HOSTILE.first_name, { exact: false }).first().waitFor();
        assert.equal(await page.locator('img[src="x"]').count(), 0);
      });
    });
  }

  test('are written to a file with their answers and metadata when they are let in', async () => {
    const color = { question_value: 'Which color?', optional: true, answer_value: ['Amber', 'White'] };
    const waitlist_id = await stage.waitlist({ questions: [color] });
    for (const [person, answer] of ['Amber', null, 'White'].entries())
      await call(stage.service, 'POST', '/api/v1/signup', {
        body: {
          waitlist_id,
          email: `person-${person}@example.com`,
          metadata: { utm_source: `post ${person}` },
          answers: [{ question_value: color.question_value, optional: true, answer_value: answer }],
        },
      });
    const page = await stage.openPage();
    await stage.signIn(page, `/desk/${waitlist_id}/people`);
    await page.getByRole('button', { name: 'Let next people in' }).click();
    await page.getByLabel('How many').fill('3');
    await page.getByRole('button', { name: 'Let 3 people in' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const [header = '', ...rows] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    assert.match(header, /,metadata,Which color\?$/);
    assert.deepEqual(
      rows.map((row) => /"{""utm_source"":""(.*)""}",(.*)$/.exec(row)?.slice(1)),
      [
        ['post 0', 'Amber'],
        ['post 1', ''],
        ['post 2', 'White'],
      ],
    );
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Everybody who joined has an offer or is no longer in line.').waitFor();
    await page.context().close();
  });
});
