/** Offers, the way back and release plans at the desk, by clicks, at the widths of a laptop and of a phone. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page, Request, Route } from 'playwright-core';
import { farFromHalfHour, until } from '../../test/support/service-process.js';
import { call, checkPage, logIn, Stage } from './harness.js';

/** No address begins with another one. */
const PEOPLE = 9;
const TIMEOUT_MS = 30_000;
const emailOf = (n: number) => `person-${n}@example.com`;

describe('offers at the desk', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
  });
  after(() => stage.close());

  for (const width of [1280, 390] as const) {
    describe(`at ${width} px`, () => {
      let page: Page;
      let id: number;
      before(async () => {
        id = await stage.waitlist();
        await stage.importPeople(PEOPLE, id);
        page = await stage.openPage({ width });
        page.setDefaultTimeout(TIMEOUT_MS);
        await stage.signIn(page, `/desk/${id}/people`);
      });
      const check = async (picture: string, fullPage = false) => {
        // A tooltip below the pointer is outside of the landmarks.
        await page.mouse.move(0, 0);
        await checkPage(page, `desk-offers-${picture}`, { widths: [width], fullPage });
      };
      const row = (n: number) => page.getByRole('grid', { name: 'People' }).getByRole('row', { name: emailOf(n) });
      const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
      const view = async () =>
        call(stage.service, 'GET', `/api/v1/waitlist/${id}`, { token: await logIn(stage.service) });
      const totals = async (): Promise<Record<'current_signups' | 'offered_signups' | 'offboarded_signups', number>> =>
        (await view()).statistics;
      /** A laptop has tabs, a phone a list. */
      const showStatus = async (label: string, value: string) => {
        const list = page.getByRole('combobox', { name: 'Status' });
        const tab = page.getByRole('radiogroup', { name: 'Status' }).getByText(new RegExp(`^${label}`));
        await list.or(tab).first().waitFor();
        if (await list.isVisible()) await list.selectOption(value);
        else await tab.click();
        await page.waitForURL((url) => (url.searchParams.get('status') ?? 'waiting') === value);
      };
      const select = async (...people: number[]) => {
        for (const n of people) await row(n).getByRole('checkbox').click();
        return page.getByRole('group', { name: 'Selected people' });
      };
      /** Puts the person of a panel back in line, as the first. */
      const putBack = async (panel: Locator) => {
        await panel.getByRole('button', { name: 'Put back in line' }).click();
        const question = dialog('Put this person back in line?');
        await question.getByRole('button', { name: 'Put them back in line' }).click();
        await question.waitFor({ state: 'detached' });
        await panel.getByText('Number 1', { exact: true }).waitFor();
      };
      const answer = async (link: string, act: 'accept' | 'decline') => {
        const response = await fetch(`${link}/${act}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(link).origin },
          redirect: 'manual',
        });
        assert.ok(response.status < 400, `${response.status}`);
      };

      test('selected people are offered a seat; each link is there to copy, and a notice takes the offers back', async () => {
        const bar = await select(2, 4);
        await bar.getByRole('button', { name: 'Offer', exact: true }).click();
        const question = dialog('Offer 2 people a seat?');
        await question.getByText('You can put them back in line later.').waitFor();
        assert.equal(await question.getByLabel('Hours to answer').inputValue(), '48');
        await check('question');
        await question.getByLabel('Hours to answer').fill('0');
        await question.getByText('Enter a whole number from 1 to 720, or leave it empty.').waitFor();
        assert.equal(await question.getByRole('button', { name: 'Offer 2 people a seat' }).isDisabled(), true);
        await question.getByLabel('Hours to answer').fill('24');
        await question.getByRole('button', { name: 'Offer 2 people a seat' }).click();
        const result = dialog('2 people offered a seat');
        await result.getByText('No mail goes out. Send each of them the link yourself').waitFor();
        await check('result');
        await result.getByRole('button', { name: 'Copy contacts and links' }).click();
        await result.getByRole('button', { name: 'Copied' }).waitFor();
        const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
        assert.match(copied[0] ?? '', new RegExp(`^${emailOf(2)}\thttp.*/waitlist/${id}/offer/`));
        assert.equal(copied.length, 2);
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          result.getByRole('button', { name: 'Download CSV' }).click(),
        ]);
        const [header = ''] = (await readFile(await download.path(), 'utf8')).split('\n');
        assert.match(header, /,offer_url,offer_expires_at$/);
        await result.getByRole('button', { name: 'Done' }).click();
        // A notice that has had the focus stays.
        await page.getByRole('alert').getByRole('button', { name: 'Undo' }).focus();
        assert.deepEqual(
          (({ current_signups, offered_signups }) => [current_signups, offered_signups])(await totals()),
          [PEOPLE - 2, 2],
        );
        await showStatus('Offered', 'offered');
        await row(2)
          .getByText('in 24 hours')
          .or(row(2).getByText('tomorrow'))
          .or(row(2).getByText('in 1 day'))
          .waitFor();
        await check('offered');
        await page.getByRole('alert').getByRole('button', { name: 'Undo' }).click();
        await page.getByText('2 people are back in line').waitFor();
        await page.getByText('Nobody has an open offer.').waitFor();
        assert.equal((await totals()).current_signups, PEOPLE);
        await showStatus('In line', 'waiting');
        // At exactly the places they had.
        const people = await stage.list(id, { order: 'queue' });
        assert.deepEqual(people.map(({ email }) => email).slice(0, 4), [1, 2, 3, 4].map(emailOf));
      });

      test('people who are let in come back to their places by the result itself', async () => {
        const bar = await select(1);
        await bar.getByRole('button', { name: 'Let in', exact: true }).click();
        await dialog('Let 1 person in?').getByText('You can put this person back in line later.').waitFor();
        await dialog('Let 1 person in?').getByRole('button', { name: 'Let 1 person in' }).click();
        const result = dialog('1 person let in');
        await result.waitFor();
        await check('let-in-result');
        await result.getByRole('button', { name: 'Undo' }).click();
        await result.waitFor({ state: 'detached' });
        await row(1).waitFor();
        assert.equal((await totals()).offboarded_signups, 0);
      });

      test('an offer whose answer was lost is asked for again, and its links are there', async () => {
        let isLost = true;
        const lose = async (route: Route, request: Request) => {
          if (!isLost || (request.postDataJSON() as { dry_run?: boolean }).dry_run) return route.continue();
          isLost = false;
          await route.fetch();
          return route.abort();
        };
        await page.route('**/api/v1/waitlist/*/offer', lose);
        await page.getByRole('button', { name: 'Offer seats', exact: true }).click();
        const question = dialog('Offer next people a seat');
        await question.getByLabel('How many').fill('6');
        await question.getByText('6 people would get an offer:').waitFor();
        await question.getByRole('button', { name: 'Offer 6 people a seat' }).click();
        await question.getByText('It is safe to try again').waitFor();
        // The page has read that fewer are in line now.
        await question.getByText('at most 3.').waitFor();
        await check('lost');
        assert.equal(await question.getByRole('listitem').count(), 6);
        await question.getByRole('button', { name: 'Try again' }).click();
        const result = dialog('6 people offered a seat');
        await result.getByRole('button', { name: 'Copy link' }).nth(5).waitFor();
        assert.equal(await result.getByRole('button', { name: 'Copy link' }).count(), 6);
        // They are shown only now.
        await page.keyboard.press('Escape');
        await result.getByRole('button', { name: 'Undo' }).click();
        await page.getByText('6 people are back in line').waitFor();
        assert.equal((await totals()).current_signups, PEOPLE);
        await page.unroute('**/api/v1/waitlist/*/offer', lose);
      });

      test('the next people are named before they get an offer, and those who declined or accepted show it', async () => {
        await page.getByRole('button', { name: 'Offer seats', exact: true }).click();
        const question = dialog('Offer next people a seat');
        await question.getByLabel('How many').fill('3');
        await question.getByText('3 people would get an offer:').waitFor();
        const names = await question.getByRole('listitem').allTextContents();
        assert.deepEqual(
          names,
          [1, 2, 3].map((n) => `${emailOf(n)} number ${n}`),
        );
        await check('next');
        assert.equal((await totals()).offered_signups, 0);
        await question.getByRole('button', { name: 'Offer 3 people a seat' }).click();
        const result = dialog('3 people offered a seat');
        await result.getByRole('button', { name: 'Copy contacts and links' }).click();
        await result.getByRole('button', { name: 'Copied' }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        const links = copied.split('\n').map((line) => line.split('\t')[1]);
        await result.getByRole('button', { name: 'Done' }).click();
        await answer(links[0] as string, 'accept');
        await answer(links[1] as string, 'decline');
        await page.reload();
        await showStatus('No longer in line', 'offboarded');
        await row(1).getByText('Accepted').waitFor();
        await row(2).getByText('Declined').waitFor();
        await check('left');
        await row(2).click();
        const panel = page.getByRole('dialog');
        await panel.getByText('They declined the offer, and were not let in.').waitFor();
        await panel.getByText('Offer declined').waitFor();
        await check('declined');
        await putBack(panel);
        await panel.getByRole('button', { name: 'Offer a seat' }).waitFor();
        await page.keyboard.press('Escape');
        await panel.waitFor({ state: 'detached' });
      });

      test('an offered person gets a new link, shown once, and is let in by hand', async () => {
        await showStatus('Offered', 'offered');
        await row(3).click();
        const panel = page.getByRole('dialog').first();
        await panel.getByText(/^The offer expires/).waitFor();
        await check('person');
        await panel.getByRole('button', { name: 'Copy new link' }).click();
        await dialog('Make a new link?').getByText('stops working').waitFor();
        await dialog('Make a new link?').getByRole('button', { name: 'Make a new link' }).click();
        const shown = dialog('Send this link');
        assert.match(
          await shown.getByLabel('Link of the offer', { exact: true }).inputValue(),
          new RegExp(`/waitlist/${id}/offer/`),
        );
        await check('link');
        await shown.getByRole('button', { name: 'I have saved it' }).click();
        await shown.waitFor({ state: 'detached' });
        await panel.getByText('New link for the offer').waitFor();
        await panel.getByRole('button', { name: 'Let in', exact: true }).click();
        await dialog('Let 1 person in?')
          .getByText(`This accepts the offer for ${emailOf(3)}.`)
          .waitFor();
        await dialog('Let 1 person in?').getByRole('button', { name: 'Let 1 person in' }).click();
        await dialog('1 person let in').getByRole('button', { name: 'Done' }).click();
        await panel.getByText(/^Accepted .* as number 3$/).waitFor();
        await page.keyboard.press('Escape');
        await page.goto(`${stage.service.url}/desk/${id}/overview`);
        const figures = page.getByRole('region', { name: 'Offers' });
        await figures.getByText('11 offers were made in 90 days, with those taken back.').waitFor();
        await check('overview', true);
      });

      test('the rules of offers are set, with the fault of an hour that is none', async () => {
        await page.goto(`${stage.service.url}/desk/${id}/settings/offers`);
        await page.getByLabel('Hours to answer').fill('1000');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Enter a whole number from 1 to 720.').waitFor();
        await check('rules', true);
        await page.getByLabel('Hours to answer').fill('72');
        await page.getByLabel('Go to the end of the line').check();
        await page.getByLabel('Address after accepting').fill('app.example.com/welcome');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Saved.').first().waitFor();
        assert.deepEqual((await view()).offers, {
          hours: 72,
          on_expiry: 'end',
          url: 'https://app.example.com/welcome',
        });
        await page.getByLabel('Offers expire').click();
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Saved.').first().waitFor();
        assert.equal((await view()).offers.hours, null);
      });

      test('a release plan is made, run once by hand after it named the people, paused and resumed', async () => {
        await farFromHalfHour();
        await page.goto(`${stage.service.url}/desk/${id}/settings/release`);
        await page.getByLabel('Only by hand').waitFor();
        await check('no-plan', true);
        await page.getByLabel('Every day, or on some days of the week').check();
        for (const day of ['Saturday', 'Sunday']) await page.getByLabel(day).uncheck();
        await page.getByLabel('Time', { exact: true }).fill('09:30');
        await page
          .getByRole('combobox', { name: 'Time zone' })
          .or(page.getByLabel('Time zone'))
          .first()
          .fill('Europe/Ber');
        await page.getByRole('option', { name: 'Europe/Berlin' }).click();
        await page.getByLabel('People each time').fill('5');
        await page.getByLabel('Seats in all').fill('4');
        await page.getByRole('button', { name: 'Save' }).click();
        await page
          .getByText(/^Saved. The next run is /)
          .first()
          .waitFor();
        await page.getByRole('heading', { name: 'The plan is active' }).waitFor();
        await page
          .getByText(/Offers 5 people a seat on Mon, Tue, Wed, Thu, and Fri at 09:30, by the clock of Europe\/Berlin/)
          .waitFor();
        assert.equal(await page.getByRole('list', { name: 'Next runs' }).getByRole('listitem').count(), 5);
        await page.getByText('2 of 4 seats are taken.').waitFor();
        await page.getByText('The plan has not run yet.').waitFor();
        await check('plan', true);

        await page.getByRole('button', { name: 'Run now' }).click();
        const question = dialog('Run the plan now?');
        await question.getByText('2 people would get an offer:').waitFor();
        const names = await question.getByRole('listitem').allTextContents();
        assert.deepEqual(names, [`${emailOf(2)} number 1`, `${emailOf(4)} number 2`]);
        await check('run');
        assert.equal((await totals()).offered_signups, 0);
        await question.getByRole('button', { name: 'Offer 2 people a seat' }).click();
        await page.getByText('2 people offered a seat').waitFor();
        await page.getByRole('region', { name: 'Runs of the plan' }).getByText('2 of 5').waitFor();
        await page.getByText('4 of 4 seats are taken. Runs offer no more').waitFor();
        assert.equal((await totals()).offered_signups, 2);
        await check('ran', true);
        await page.getByRole('button', { name: 'Run now' }).click();
        await question.getByText('Nobody would get an offer now. 4 of 4 seats are taken.').waitFor();
        assert.equal(await question.getByRole('button', { name: 'Offer seats' }).isDisabled(), true);
        await question.getByRole('button', { name: 'Cancel' }).click();

        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByRole('heading', { name: 'The plan is paused' }).waitFor();
        await page.getByText('No run is planned while it is paused.').waitFor();
        await page.getByRole('button', { name: 'Resume' }).click();
        await page.getByRole('heading', { name: 'The plan is active' }).waitFor();
        await page.getByLabel('Only by hand').check();
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Saved. There is no plan.').first().waitFor();
        await page.getByRole('heading', { name: 'Runs' }).waitFor();
      });

      test('a save of the plan leaves alone what somebody else changed in it meanwhile', async () => {
        await farFromHalfHour();
        const plan = { every: 'hour', time_zone: 'Europe/Berlin', count: 5, seats: 100 };
        await stage.configure(id, { release_plan: plan });
        await page.reload();
        await page.getByLabel('People each time').fill('7');
        await stage.configure(id, { release_plan: { ...plan, seats: 40, is_active: false } });
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Saved.').first().waitFor();
        const { release_plan: saved } = await view();
        assert.deepEqual([saved.count, saved.seats, saved.is_active], [7, 40, false]);
        await page.getByRole('heading', { name: 'The plan is paused' }).waitFor();
        await stage.configure(id, { release_plan: null });
      });

      test('people whose time is over have the offer no longer, and can be put back', async () => {
        await stage.configure(id, { offers: { on_expiry: 'out' } });
        await stage.passOffers(id);
        await until(async () => (await totals()).offered_signups === 0);
        await page.goto(`${stage.service.url}/desk/${id}/people?status=offboarded`);
        await row(4).getByText('Expired').waitFor();
        await check('expired');
        await row(4).click();
        const panel = page.getByRole('dialog');
        await panel.getByText('They did not answer the offer in time, and were not let in.').waitFor();
        await panel.getByText('Offer expired').waitFor();
        await check('expired-person');
        await putBack(panel);
      });
    });
  }

  test('whoever gives up an offer to many in the middle has the links of those who got one', async () => {
    const id = await stage.waitlist();
    await stage.importPeople(1_050, id);
    const page = await stage.openPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    await stage.signIn(page, `/desk/${id}/people`);
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('checkbox', { name: 'Select all loaded people' }).click();
    const bar = page.getByRole('group', { name: 'Selected people' });
    await bar.getByRole('button', { name: 'Select all 1,050' }).click();
    await bar.getByText('1,050 selected').waitFor();
    await bar.getByRole('button', { name: 'Offer', exact: true }).click();
    let requests = 0;
    await page.route('**/api/v1/waitlist/*/offer', (route) => (++requests > 1 ? route.abort() : route.continue()));
    const question = page.getByRole('dialog', { name: 'Offer 1,050 people a seat?' });
    await question.getByRole('button', { name: 'Offer 1,050 people a seat' }).click();
    await question.getByText('1,000 of 1,050 done.').waitFor();
    await question.getByText('It is safe to try again').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    const result = page.getByRole('dialog', { name: '1,000 people offered a seat' });
    await result.getByRole('button', { name: 'Copy contacts and links' }).click();
    await result.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
    assert.equal(copied.filter((line) => line.includes('/offer/')).length, 1_000);
  });
});
