/** An owner sets a waitlist up, by clicks. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../test/support/service-process.js';
import { call, checkPage, logIn, Stage } from './harness.js';

interface Waitlist {
  readonly waitlist_name: string;
  readonly title: string | null;
  readonly is_closed: boolean;
  readonly is_public: boolean;
  readonly spots_to_move_upon_referral: number;
  readonly configuration_style_json: Readonly<Record<string, unknown>>;
  readonly questions: readonly {
    readonly id: number;
    readonly question_value: string;
    readonly soft_deleted: boolean;
  }[];
}

const colorOf = (element: Element) => getComputedStyle(element).backgroundColor;
const hasColor = (element: Locator, color: string) => until(async () => (await element.evaluate(colorOf)) === color);

let stage: Stage;
before(async () => {
  stage = await Stage.open();
});
after(() => stage.close());

async function openSettings(tab: string, waitlistId = 1): Promise<Page> {
  const page = await stage.openPage();
  await stage.signIn(page, `/desk/${waitlistId}/settings/${tab}`);
  await page.getByRole('tab', { selected: true }).waitFor();
  return page;
}

async function save(page: Page, answer = 'Saved.'): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').getByText(answer).waitFor();
}

async function waitlist(id = 1): Promise<Waitlist> {
  return (await call(stage.service, 'GET', `/api/v1/waitlist/${id}`, {
    token: await logIn(stage.service),
  })) as Waitlist;
}

async function createWaitlist(settings: object): Promise<number> {
  const token = await logIn(stage.service);
  const { id } = (await call(stage.service, 'POST', '/api/v1/waitlist', { token, status: 201, body: settings })) as {
    id: number;
  };
  return id;
}

/** The answers to the questions of a person, removed ones too. */
async function answersOf(uuid: string) {
  const token = await logIn(stage.service);
  const { answers } = (await call(stage.service, 'GET', `/api/v1/signup/${uuid}`, { token })) as {
    answers: { question_value: string; answer_value: string | null }[];
  };
  return Object.fromEntries(answers.map(({ question_value, answer_value }) => [question_value, answer_value]));
}

test('each tab has an address, works by keyboard, and shows nothing that hinders people', async () => {
  const page = await openSettings('form');
  const tabs = {
    form: 'Form',
    referrals: 'Referrals',
    trust: 'Trust',
    look: 'Appearance',
    keys: 'Keys',
    webhooks: 'Webhooks',
    danger: 'Danger zone',
  };
  for (const [tab, name] of Object.entries(tabs)) {
    await page.waitForURL(`**/desk/1/settings/${tab}`);
    await page.reload();
    await page.getByRole('tab', { selected: true, name }).waitFor();
    await checkPage(page, `desk-settings-${tab}`);
    await page.getByRole('tab', { selected: true }).press('ArrowRight');
    await page.keyboard.press('Enter');
  }
  await page.context().close();
});

test('a question is asked, renamed with its answers, moved, and removed', async () => {
  const page = await openSettings('form');
  await page.getByRole('button', { name: 'Add question' }).click();
  await page
    .getByRole('group', { name: 'Question 1' })
    .getByRole('textbox', { name: 'Text' })
    .fill('How did you hear of us?');
  await page.getByRole('button', { name: 'Add question' }).press('Enter');
  const second = page.getByRole('group', { name: 'Question 2' });
  await second.getByRole('textbox', { name: 'Text' }).fill('Which size?');
  await second.getByText('Choices', { exact: true }).click();
  await second.getByRole('textbox', { name: 'Choices' }).fill('Small\nLarge\n');
  await checkPage(page, 'desk-settings-questions');
  await save(page);

  const { uuid } = (await call(stage.service, 'POST', '/api/v1/signup', {
    body: {
      waitlist_id: 1,
      email: 'ada@example.com',
      answers: [
        { question_value: 'How did you hear of us?', answer_value: 'The news' },
        { question_value: 'Which size?', answer_value: 'Large' },
      ],
    },
  })) as { uuid: string };

  await page
    .getByRole('group', { name: 'Question 1' })
    .getByRole('textbox', { name: 'Text' })
    .fill('Where did you hear of us?');
  await page.getByText('The answers that people gave stay with this question.').waitFor();
  await page.getByRole('button', { name: 'Move question 1 down' }).press('Enter');
  await save(page);
  assert.deepEqual(
    (await waitlist()).questions.map(({ question_value }) => question_value),
    ['Which size?', 'Where did you hear of us?'],
  );
  assert.equal((await answersOf(uuid))['Where did you hear of us?'], 'The news');

  await page.getByRole('button', { name: 'Remove question 1' }).click();
  await page.getByText('New signups are no longer asked').waitFor();
  await checkPage(page, 'desk-settings-removed-question');
  await save(page);
  await page.getByText('Removed earlier, with their answers kept: “Which size?”.').waitFor();
  assert.equal((await answersOf(uuid))['Which size?'], 'Large');
  await page.context().close();
});

test("the service's faults stand beside their fields, and nothing that was typed is lost", async () => {
  const page = await openSettings('form');
  await page.getByRole('textbox', { name: 'Signup page' }).fill('not an address');
  for (const contact of ['Email', 'Phone'])
    await page.getByRole('radiogroup', { name: contact, exact: true }).getByText('Off').click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('must leave email or phone on').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Signup page' }).getAttribute('aria-invalid'), 'true');
  assert.equal(await page.getByRole('textbox', { name: 'Signup page' }).inputValue(), 'not an address');
  await checkPage(page, 'desk-settings-faults');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.context().close();
});

test('a tab with changes asks before it is left, and keeps them if its owner stays', async () => {
  const page = await openSettings('form');
  await page.getByRole('textbox', { name: 'Name' }).fill('Another name');
  await page.getByRole('tab', { name: 'Appearance' }).click();
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
  await dialog.waitFor();
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Stay here' }).click();
  assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Another name');
  await page.getByRole('tab', { name: 'Appearance' }).click();
  await dialog.getByRole('button', { name: 'Leave without saving' }).click();
  await page.waitForURL('**/settings/look');
  assert.equal((await waitlist()).waitlist_name, 'My waitlist');
  await page.context().close();
});

test('a save leaves alone what another window saved meanwhile', async () => {
  const [one, other] = [await openSettings('form'), await openSettings('look')];
  await one.getByRole('textbox', { name: 'Name' }).fill('Launch');
  await other.getByRole('textbox', { name: 'Title' }).fill('Join us');
  await save(other);
  await save(one);
  const { waitlist_name, title } = await waitlist();
  assert.deepEqual({ waitlist_name, title }, { waitlist_name: 'Launch', title: 'Join us' });
  await Promise.all([one.context().close(), other.context().close()]);
});

test('a change of the spots tells how many people would move, then how many moved', async () => {
  const id = await createWaitlist({ waitlist_name: 'Referrals', spots_to_move_upon_referral: 0 });
  await stage.importPeople(40, id);
  const page = await openSettings('referrals', id);
  await page.getByLabel('Places for each friend who joins').fill('5');
  await page.getByText('1 person would move.').waitFor();
  assert.equal((await waitlist(id)).spots_to_move_upon_referral, 0);
  await save(page, 'Saved. 1 person moved.');
  assert.equal((await waitlist(id)).spots_to_move_upon_referral, 5);
  await page.context().close();
});

test('colors and words show in the preview at once, and on the page once they are saved', async () => {
  await call(stage.service, 'PATCH', '/api/v1/waitlist/1', {
    token: await logIn(stage.service),
    body: { configuration_style_json: { font: 'of another program' } },
  });
  const page = await openSettings('look');
  const preview = page.frameLocator('iframe[title="Preview"]');
  const canvas = preview.locator('html');
  const button = preview.locator('.waitlist-button');
  // The frame loads a moment after the tab.
  await button.waitFor();
  const scheme = page.getByRole('radiogroup', { name: 'Colors' });
  await scheme.getByText('Dark').click();
  await hasColor(canvas, 'rgb(13, 14, 17)');
  await scheme.getByText('Light').click();
  await hasColor(canvas, 'rgb(245, 246, 247)');
  await page.getByRole('textbox', { name: 'Title' }).fill('First in line');
  await page.getByLabel('Button text').fill('Let me in');
  await page.getByLabel('Background').fill('#102a43');
  await page.getByLabel('Button', { exact: true }).fill('#f0b429');
  await preview.locator('h1', { hasText: 'First in line' }).waitFor();
  await button.filter({ hasText: /^Let me in$/ }).waitFor();
  await hasColor(button, 'rgb(240, 180, 41)');
  await checkPage(page, 'desk-settings-look-colors');
  await page.getByText('Joined', { exact: true }).click();
  await preview.getByText('1,203 people are ahead of you.').waitFor();
  await page.getByText('Widget', { exact: true }).click();
  await preview.getByText('1,203 people are ahead of you.').waitFor();
  await page.getByText('Before', { exact: true }).click();
  await preview.getByRole('heading', { name: 'First in line' }).waitFor();
  await checkPage(page, 'desk-settings-look-widget');
  await save(page);

  assert.deepEqual((await waitlist()).configuration_style_json, {
    font: 'of another program',
    widget_background_color: '#102a43',
    widget_button_color: '#f0b429',
  });
  const visitor = await stage.openPage();
  await visitor.goto(`${stage.service.url}/waitlist/1`);
  await visitor.getByRole('heading', { name: 'First in line' }).waitFor();
  assert.equal(await visitor.getByRole('button', { name: 'Let me in' }).evaluate(colorOf), 'rgb(240, 180, 41)');
  await Promise.all([visitor.context().close(), page.context().close()]);
});

test('the API key is replaced after a question, and shown once', async () => {
  const page = await openSettings('keys');
  await page.getByRole('button', { name: 'Replace the API key' }).click();
  const question = page.getByRole('dialog', { name: 'Replace the API key?' });
  await question.getByText('stop working at once').waitFor();
  await question.getByRole('button', { name: 'Replace the API key' }).click();
  const shown = page.getByRole('dialog', { name: 'Save the new API key' });
  const key = await shown.getByLabel('API key', { exact: true }).inputValue();
  await checkPage(page, 'desk-settings-new-key');
  await shown.getByRole('button', { name: 'I have saved it' }).click();
  const answer = await fetch(`${stage.service.url}/api/v1/waiter?api_key=${key}`, {
    headers: { authorization: `Bearer ${await logIn(stage.service)}` },
  });
  assert.equal(answer.status, 200);
  await page.context().close();
});

test('a waitlist is closed and opened, made private, and deleted by typing its name as it is shown', async () => {
  const id = await createWaitlist({ waitlist_name: 'Short  lived' });
  const page = await openSettings('danger', id);
  await page.getByRole('button', { name: 'Close the waitlist' }).click();
  await page.getByRole('heading', { name: 'The waitlist is closed' }).waitFor();
  assert.equal((await waitlist(id)).is_closed, true);
  await page.getByRole('button', { name: 'Open the waitlist' }).click();
  await page.getByRole('button', { name: 'Make it private' }).click();
  await page.getByRole('heading', { name: 'The waitlist is private' }).waitFor();
  assert.equal((await waitlist(id)).is_public, false);

  await page.getByRole('button', { name: 'Delete the waitlist' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete “Short lived”?' });
  const act = dialog.getByRole('button', { name: 'Delete the waitlist' });
  assert.equal(await act.isDisabled(), true);
  await dialog.getByLabel('Type Short lived to confirm').fill('Short lived');
  await checkPage(page, 'desk-settings-delete');
  await act.click();
  await page.waitForURL('**/desk/1/overview');
  await call(stage.service, 'GET', `/api/v1/waitlist/${id}`, { token: await logIn(stage.service), status: 404 });
  await page.context().close();
});
