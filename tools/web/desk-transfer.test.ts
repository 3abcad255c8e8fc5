/** An owner imports a list and exports it, by clicks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { checkPage, logIn, Stage } from './harness.js';

const PEOPLE = 10_000;
/** Their import takes some seconds, in which the page says that it may be left. */
const MANY_PEOPLE = 40_000;
/** More than there are stops of the Tab key. */
const STOPS_MAX = 100;
let stage: Stage;
before(async () => {
  stage = await Stage.open();
});
after(() => stage.close());

/** A list of people, with three lines that an import rejects: 4, 12 and 102. */
function listOf(people: number, prefix: string): string {
  const lines = ['email,first_name,created_at,source'];
  for (let n = 1; n <= people; n += 1) {
    const address = [3, 11, 101].includes(n) ? `no-address-${n}` : `${prefix}-${n}@example.com`;
    lines.push(`${address},Person ${n},2026-01-01T00:00:00Z,blog`);
  }
  return lines.join('\n');
}

async function openTransfer(waitlistId = 1): Promise<Page> {
  const page = await stage.openPage();
  // Such a picker of the system cannot be clicked. Without it, the browser downloads the file, and asks for one by an
  // input.
  await page.addInitScript(() => {
    const pickers = window as { showSaveFilePicker?: unknown; showOpenFilePicker?: unknown };
    delete pickers.showSaveFilePicker;
    delete pickers.showOpenFilePicker;
  });
  await stage.signIn(page, `/desk/${waitlistId}/transfer`);
  await page.getByRole('heading', { name: 'Import and export' }).waitFor();
  return page;
}

function csvFile(name: string, content: string | Buffer) {
  return { name, mimeType: 'text/csv', buffer: Buffer.from(content as string) };
}

function choose(page: Page, name: string, content: string | Buffer): Promise<void> {
  return page.locator('input[type=file]').setInputFiles(csvFile(name, content));
}

const columnsOf = (page: Page) => page.getByRole('list', { name: 'Columns of the file' });

/** What each column of the chosen file is read as. */
function choices(page: Page): Promise<string[]> {
  return columnsOf(page).locator('select option:checked').allInnerTexts();
}

test('a file that is no list is refused beside the drop zone, without being sent', async () => {
  const page = await openTransfer();
  await checkPage(page, 'desk-import-empty');
  await choose(page, 'photo.csv', 'PK\u0000\u0001');
  await page.getByRole('alert').getByText('This is not a CSV file').waitFor();
  await choose(page, 'unicode.txt', Buffer.from('\uFEFFEmail\tName\r\n', 'utf16le'));
  await page.getByRole('alert').getByText('This file is in UTF-16. Save the list as “CSV UTF-8”').waitFor();
  await choose(page, 'excel.csv', Buffer.from('Email;Name\nada@example.com;Andr\xe9\n', 'latin1'));
  await page.getByRole('alert').getByText('This file is in Latin-1 (Windows-1252).').waitFor();
  await page.context().close();
});

test('a column is left out even if its name is one that every object of JavaScript has', async () => {
  const page = await openTransfer();
  await choose(page, 'names.csv', 'email,__proto__,constructor\nada@example.com,1,2\n');
  await columnsOf(page).waitFor();
  assert.deepEqual(await choices(page), ['Email', 'Leave out', 'Leave out']);
  await page.context().close();
});

test('a file without an email or phone cannot be checked before its owner says which column it is', async () => {
  const page = await openTransfer();
  await choose(page, 'names.csv', 'Nom,Adresse,email\nAda,ada@example.com,\n');
  await page.getByLabel('Read email as').selectOption('Leave out');
  await page.getByText('No column is the email or the phone yet.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Check the file' }).isDisabled());
  await page.getByLabel('Read Adresse as').selectOption('Email');
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByText('1 person would be imported.').waitFor();
  await page.getByText('Read: Adresse as Email').waitFor();

  // A choice takes its place from another column.
  await page.getByRole('button', { name: 'Change the columns' }).click();
  assert.deepEqual(await choices(page), ['Leave out', 'Email', 'Leave out']);
  await page.getByLabel('Read email as').selectOption('Email');
  assert.deepEqual(await choices(page), ['Leave out', 'Leave out', 'Email']);
  await page.context().close();
});

test('a semicolon file of a spreadsheet is understood, and the rest of its columns is kept as metadata', async () => {
  const waitlist = await stage.waitlist({ waitlist_name: 'Spreadsheet' });
  const page = await openTransfer(waitlist);
  const file = [
    '\uFEFFE-Mail;First Name;Last Name;Signup Date;Referral Code;Referred By;Company;Notes',
    'grace@example.com;Grace;Hopper;2026-03-01;grace_code;;Navy;"VIP; early"',
    'ada@example.com;Ada;Lovelace;2026-03-02 09:30;;grace_code;Analytical Engines;',
    'joan@example.com;Joan;Clarke;3/4/2026;;Grace Hopper;;',
  ].join('\r\n');
  await choose(page, 'people.csv', file);
  await page.getByText('The file has 8 columns, separated by semicolons.').waitFor();
  const guessed = ['Email', 'First name', 'Last name', 'Time of joining', 'Referral code', 'Referrer’s code'];
  assert.deepEqual(await choices(page), [...guessed, 'Leave out', 'Leave out']);
  await columnsOf(page).getByText('Grace · Ada · Joan').waitFor();
  await checkPage(page, 'desk-import-spreadsheet');
  await page.getByRole('button', { name: 'Keep the 2 left out as metadata' }).click();
  assert.deepEqual(await choices(page), [...guessed, 'Keep as metadata', 'Keep as metadata']);

  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByText('3 people would be imported.').waitFor();
  await page.getByText('1 value of Signup Date does not fit “Time of joining”, and would be left out.').waitFor();
  await page.getByText('In line 4: Must be a time such as 2026-11-21, 2026-11-21 09:30 or').waitFor();
  await page.getByText('1 value of Referred By does not fit “Referrer’s code”, and would be left out.').waitFor();
  await page.getByText('E-Mail as Email, First Name as First name').waitFor();
  await checkPage(page, 'desk-import-spreadsheet-checked');
  await page.getByRole('button', { name: 'Import 3 people' }).click();
  await page.getByText('3 people were imported.').waitFor();

  const people = await stage.list(waitlist);
  const facts = people.map(({ email, last_name, created_at, metadata, referred_by_waiter_token }) => {
    const day = email === 'joan@example.com' ? null : created_at;
    return [email, last_name, day, metadata, referred_by_waiter_token];
  });
  assert.deepEqual(facts, [
    ['grace@example.com', 'Hopper', '2026-03-01_00-00-00', { Company: 'Navy', Notes: 'VIP; early' }, null],
    ['ada@example.com', 'Lovelace', '2026-03-02_09-30-00', { Company: 'Analytical Engines' }, 'grace_code'],
    ['joan@example.com', 'Clarke', null, null, null],
  ]);
  await page.context().close();
});

test('an import is made by the keyboard alone, the focus moving on with each step', async () => {
  const page = await openTransfer(await stage.waitlist({ waitlist_name: 'By keyboard' }));
  const hasFocus = (locator: Locator) => locator.and(page.locator(':focus')).waitFor();
  const hasHeadingFocus = (name: string) => hasFocus(page.getByRole('heading', { name, exact: true }));
  const press = async (target: Locator) => {
    for (let stops = 0; !(await target.evaluate((element) => element === document.activeElement)); stops += 1) {
      assert.ok(stops < STOPS_MAX, `no stop at ${String(target)}`);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
  };
  const pressButton = (name: string) => press(page.getByRole('button', { name, exact: true }));
  const dates = ['24.11.2026', '25.11.2026', '26.11.2026', '27.11.2026', '28.11.2026', '29.11.2026', '2026-11-30'];
  const lines = dates.map((date, index) => `person-${index}@example.com;${date};person-0@example.com;blog;x`);

  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press(page.getByLabel('Choose a CSV file'))]);
  await chooser.setFiles(csvFile('dates.csv', ['Email;Signup Date;Referred By;Source;Notes', ...lines].join('\n')));
  await hasHeadingFocus('Choose what the columns are');
  await pressButton('Keep the 2 left out as metadata');
  await hasFocus(page.getByLabel('Read Source as'));
  await pressButton('Check the file');
  await page.getByText('7 people would be imported.').waitFor();
  await hasHeadingFocus('Result of the check');
  await page.getByText('6 values of Signup Date do not fit “Time of joining”, and would be left out.').waitFor();
  await page.getByText('For example, in lines 2 · 3 · 4 · 5 · 6: Must be a time such as 2026-11-21,').waitFor();
  await page.getByText('Must be a referral token, not an email address.').waitFor();
  await checkPage(page, 'desk-import-dates');

  await pressButton('Change the columns');
  await hasHeadingFocus('Choose what the columns are');
  await pressButton('Check the file');
  await pressButton('Import 7 people');
  await page.getByText('7 people were imported.').waitFor();
  await hasHeadingFocus('Result of the import');
  await pressButton('Choose another file');
  await hasHeadingFocus('Choose a file');
  await page.context().close();
});

test('10,000 people are checked by a dry run, imported, and reported with the problems by line', async () => {
  const page = await openTransfer();
  await choose(page, 'people.csv', listOf(PEOPLE, 'ada'));
  await columnsOf(page).getByText('ada-1@example.com').waitFor();
  assert.deepEqual(await choices(page), ['Email', 'First name', 'Time of joining', 'Leave out']);
  await checkPage(page, 'desk-import-chosen');

  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByText('9,997 people would be imported.').waitFor();
  await page.getByText('3 lines have a problem, and would be left out.').waitFor();
  const problems = page.getByRole('region', { name: 'Problems' });
  assert.deepEqual(await problems.getByRole('row').locator('td:first-child').allInnerTexts(), ['4', '12', '102']);
  await checkPage(page, 'desk-import-checked');
  assert.equal(await totalSignups(), 0);

  await page.getByRole('button', { name: 'Import 9,997 people' }).click();
  await page.getByText('9,997 people were imported.').waitFor();
  assert.equal(await totalSignups(), PEOPLE - 3);
  const [report] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the report' }).click(),
  ]);
  assert.match(report.suggestedFilename(), /^my-waitlist-import-report-\d{4}-\d\d-\d\d\.csv$/);
  const text = await readFile(await report.path(), 'utf8');
  assert.match(text, /^line,field,message\n,imported,9997\n/);
  assert.match(text, /\n102,email,must be an email address/);
  await checkPage(page, 'desk-import-done');
  await page.context().close();
});

test('an import that is refused says why, keeps the file, and can be tried again', async () => {
  const page = await openTransfer();
  const alert = page.getByRole('alert');
  const tryAgain = page.getByRole('button', { name: 'Try again' });
  await choose(page, 'list.csv', listOf(1, 'emmy'));
  // The two imports that an instance carries out at once wait for their files.
  const authorization = `Bearer ${await logIn(stage.service)}`;
  const uploads = [1, 2].map(() => {
    const upload = request(`${stage.service.url}/api/v1/waitlist/1/import?dry_run=true`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'text/csv', accept: 'application/x-ndjson' },
    });
    upload.write('email\n');
    // Its end is that of the connection.
    upload.on('error', () => undefined);
    return upload;
  });
  await Promise.all(uploads.map((upload) => once(upload, 'response')));
  await page.getByRole('button', { name: 'Check the file' }).click();
  await alert.getByText('busy with other imports').waitFor();

  for (const upload of uploads) upload.destroy();
  await page.route('**/import?*', (route) => route.fulfill({ status: 413, body: '<h1>Too large</h1>' }), { times: 1 });
  await tryAgain.click();
  await alert.getByText('A proxy in front of the service rejected the upload as too large.').waitFor();
  await page.getByText('list.csv').waitFor();
  await tryAgain.click();
  await page.getByText('1 person would be imported.').waitFor();
  await page.context().close();
});

test('an import goes on while its owner is elsewhere, alone, and the next visit says what came of it', async () => {
  const [page, other] = [await openTransfer(), await openTransfer()];
  await choose(other, 'others.csv', listOf(1, 'emmy'));
  await other.getByRole('button', { name: 'Check the file' }).click();
  await choose(page, 'more.csv', listOf(MANY_PEOPLE, 'grace'));
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByRole('button', { name: 'Import 39,997 people' }).click();
  // The file has left.
  await page.getByText('You may leave this page').waitFor();
  await page.getByText('Importing the people').waitFor();
  await other.getByRole('button', { name: 'Import 1 person' }).click();
  await other.getByRole('alert').getByText('An import into this waitlist is running already.').waitFor();
  await other.getByRole('button', { name: 'Choose another file' }).click();
  await page.close();
  await other.getByText('39,997 people were imported.').waitFor();
  await other.context().close();

  const later = await openTransfer();
  await later.getByRole('heading', { name: 'The latest import' }).waitFor();
  await later.getByText('39,997 people were imported.').waitFor();
  assert.equal(await totalSignups(), PEOPLE + MANY_PEOPLE - 6);
  await checkPage(later, 'desk-import-latest');
  await later.context().close();
});

test('an export is a file of as many lines as there are people, in both formats', async () => {
  const page = await openTransfer();
  const people = await totalSignups();
  for (const { label, ending, header } of [
    { label: 'CSV, for spreadsheets', ending: 'csv', header: 1 },
    { label: 'NDJSON, for programs', ending: 'ndjson', header: 0 },
  ]) {
    await page.getByLabel(label).check();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Export ${people.toLocaleString('en')} people` }).click(),
    ]);
    assert.match(file.suggestedFilename(), new RegExp(String.raw`^my-waitlist-\d{4}-\d\d-\d\d\.${ending}$`));
    const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
    assert.equal(lines.length, people + header);
    await page.getByText(`Saved ${people.toLocaleString('en')} people as my-waitlist`).waitFor();
  }
  await checkPage(page);

  // The way back: the desk knows each column, but for the position, which an import computes.
  await choose(page, 'back.csv', 'join_order,position,email,registered_email,phone\n1,0,new@example.com,,\n');
  await columnsOf(page).waitFor();
  assert.equal((await choices(page)).filter((choice) => choice === 'Leave out').length, 1);
  await page.context().close();
});

async function totalSignups(): Promise<number> {
  const headers = { authorization: `Bearer ${await logIn(stage.service)}` };
  const answer = await fetch(`${stage.service.url}/api/v1/waitlist/1`, { headers });
  const { statistics } = (await answer.json()) as { statistics: { total_signups: number } };
  return statistics.total_signups;
}
