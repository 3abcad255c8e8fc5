/** An owner sets a waitlist up, by clicks. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { MailServer } from '../../test/support/mail-server.js';
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
    mails: 'Mails',
    offers: 'Offers',
    release: 'Release plan',
    appearance: 'Appearance',
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
  await page.keyboard.press('Tab');
  await page.getByText('Enter an address, such as https://example.com.').waitFor();
  for (const contact of ['Email', 'Phone'])
    await page.getByRole('radiogroup', { name: contact, exact: true }).getByText('Off').click();
  assert.equal(await page.getByRole('combobox', { name: 'Country of phone numbers' }).count(), 0);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('Ask for the email or the phone').waitFor();
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
  await page.waitForURL('**/settings/appearance');
  assert.equal((await waitlist()).waitlist_name, 'My waitlist');
  await page.context().close();
});

test('a save leaves alone what another window saved meanwhile', async () => {
  const [one, other] = [await openSettings('form'), await openSettings('appearance')];
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
  const page = await openSettings('appearance');
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
  const state = page.getByRole('combobox', { name: 'State' });
  await state.selectOption('Joined');
  await preview.getByText('1,203 people are ahead of you.').waitFor();
  await page.getByText('Widget', { exact: true }).click();
  await preview.getByText('1,203 people are ahead of you.').waitFor();
  await state.selectOption('Form');
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

test('an API key is made after a question, and shown once', async () => {
  const page = await openSettings('keys');
  await page.getByRole('button', { name: 'Make a new API key' }).click();
  const question = page.getByRole('dialog', { name: 'Make a new API key?' });
  await question.getByText('stop working at once').waitFor();
  await question.getByRole('button', { name: 'Make a new API key' }).click();
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

test('a waitlist is closed and made private after a question, and opened again from the overview', async () => {
  const id = await createWaitlist({ waitlist_name: 'Often closed' });
  const page = await openSettings('form', id);
  for (const [act, closed] of [
    ['Close the waitlist', 'The waitlist is closed'],
    ['Make it private', 'The waitlist is closed and private'],
  ] as const) {
    await page.getByRole('button', { name: act }).click();
    const question = page.getByRole('dialog', { name: '?' });
    await checkPage(page, `desk-settings-${act.split(' ')[0]?.toLowerCase()}`, { fullPage: false });
    await question.getByRole('button', { name: act }).click();
    await page.getByRole('heading', { name: closed, exact: true }).waitFor();
  }
  const { is_closed, is_public } = await waitlist(id);
  assert.deepEqual({ is_closed, is_public }, { is_closed: true, is_public: false });

  await page.getByRole('link', { name: 'Overview' }).click();
  const yourPage = page.getByRole('region', { name: 'Your page' });
  await yourPage.getByText('its address and QR code lead to “Page not found”').waitFor();
  assert.equal(await yourPage.getByLabel('Address').count(), 0);
  await checkPage(page, 'desk-overview-private');
  // By the keyboard: the button is gone, so the focus goes to the heading.
  const focused = page.getByRole('heading', { level: 1, name: 'Overview' }).and(page.locator(':focus'));
  await page.getByRole('button', { name: 'Make it public again' }).press('Enter');
  await yourPage.getByText('The page and the widget say that the waitlist is closed').waitFor();
  await focused.waitFor();
  await checkPage(page, 'desk-overview-closed');
  await page.getByRole('button', { name: 'Open it again' }).press('Enter');
  await page.getByText('First steps').waitFor();
  await focused.waitFor();
  assert.equal(await page.getByRole('button', { name: 'Open it again' }).count(), 0);
  assert.equal((await waitlist(id)).is_closed, false);
  await page.context().close();
});

test('the address of a tab that was renamed, or of none, leads to a tab', async () => {
  const page = await openSettings('look');
  await page.waitForURL('**/desk/1/settings/appearance');
  await page.goto(`${stage.service.url}/desk/1/settings/nothing`);
  await page.waitForURL('**/desk/1/settings/form');
  await page.context().close();
});

test('the lines of a text stand on the page and in the widget as they were typed', async () => {
  const id = await createWaitlist({ waitlist_name: 'Lines' });
  const page = await openSettings('appearance', id);
  await page.getByLabel('Introduction').fill('A lamp.');
  await page.getByLabel('Introduction').press('End');
  await page.keyboard.type('\n\nIt ships in May.\nOr June.');
  await page.getByLabel('What the data is for').fill('We write once.\nNo more.');
  await page.getByText('Widget', { exact: true }).click();
  const introduction = page.frameLocator('iframe[title="Preview"]').locator('.waitlist-introduction');
  await until(async () => (await introduction.innerText()) === 'A lamp.\n\nIt ships in May.\nOr June.');
  await page.getByLabel('Share message').fill('Join me:\na lamp');
  await save(page);
  const visitor = await stage.openPage();
  await visitor.goto(`${stage.service.url}/waitlist/${id}`);
  assert.deepEqual(await visitor.locator('main p:not(:has(a))').allInnerTexts(), [
    'A lamp.\n\nIt ships in May.\nOr June.',
    'We write once.\nNo more.',
  ]);
  await checkPage(visitor, 'page-lines');
  await visitor.getByLabel('Email').fill('lines@example.com');
  await visitor.getByRole('button', { name: 'Join the waitlist' }).click();
  await visitor.locator('[data-message="Join me:\\a a lamp"]').waitFor();
  await Promise.all([visitor.context().close(), page.context().close()]);
});

test('a color is brought into one form, and what is none stays beside a sentence and is not saved', async () => {
  const id = await createWaitlist({ waitlist_name: 'Colors' });
  const page = await openSettings('appearance', id);
  const color = (name: string) => page.getByRole('textbox', { name, exact: true });
  await color('Background').fill('#F00');
  await color('Text').fill('f59e0b');
  await color('Borders').fill('orange');
  await color('Button').fill('0af');
  await page.getByText('Enter a color as six hex digits').waitFor();
  assert.deepEqual(await Promise.all(['Background', 'Text', 'Borders'].map((name) => color(name).inputValue())), [
    '#ff0000',
    '#f59e0b',
    'orange',
  ]);
  // By the keyboard, without leaving the field.
  await color('Button').press('Enter');
  await page.getByRole('status').getByText('some fields need your attention').waitFor();
  await until(async () => color('Borders').evaluate((element) => element === document.activeElement));
  await page.keyboard.press('Escape');
  await checkPage(page, 'desk-settings-color-fault');
  assert.deepEqual((await waitlist(id)).configuration_style_json, {});
  await color('Borders').fill('#123');
  await color('Borders').press('Enter');
  await page.getByRole('status').getByText('Saved.').waitFor();
  assert.deepEqual((await waitlist(id)).configuration_style_json, {
    border_color: '#112233',
    widget_background_color: '#ff0000',
    widget_button_color: '#00aaff',
    widget_font_color: '#f59e0b',
  });
  await page.context().close();
});

test('an address is brought into one form; a fault that appears on blur does not move a button from under a click', async () => {
  const id = await createWaitlist({ waitlist_name: 'Addresses' });
  const page = await openSettings('form', id);
  await page.getByRole('textbox', { name: 'Signup page' }).fill('not an address');
  const add = page.getByRole('button', { name: 'Add question' });
  await add.scrollIntoViewIfNeeded();
  const box = await add.boundingBox();
  assert.ok(box);
  // At its upper edge.
  await page.mouse.move(box.x + box.width / 2, box.y + 2);
  await page.mouse.down();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.mouse.up();
  await page.getByRole('group', { name: 'Question 1' }).waitFor();
  await page.getByText('Enter an address, such as https://example.com.').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();

  await page.getByRole('tab', { name: 'Appearance' }).click();
  const sites = page.getByRole('textbox', { name: 'Sites that may show the page in a frame' });
  await sites.fill('example.com\nnot a site');
  await sites.press('Tab');
  await page.getByText('Enter an address, such as https://example.com.').waitFor();
  await sites.fill('example.com\n\n https://Shop.example.com/');
  await sites.press('Tab');
  assert.equal(await sites.inputValue(), 'https://example.com\nhttps://shop.example.com');
  await save(page);
  const { frame_origins } = (await waitlist(id)) as { frame_origins?: string[] };
  assert.deepEqual(frame_origins, ['https://example.com', 'https://shop.example.com']);
  await page.context().close();
});

test('the preview stands beside Form and Appearance, and follows the text that is edited', async () => {
  const page = await openSettings('form');
  const preview = page.frameLocator('iframe[title="Preview"]');
  await preview.getByLabel('Email').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('Seen at once');
  await preview.getByText('Seen at once').or(preview.getByText('First in line')).first().waitFor();
  await page.getByRole('radiogroup', { name: 'Last name' }).getByText('Required').click();
  await preview.getByLabel('Last name').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();

  await page.getByRole('tab', { name: 'Appearance' }).click();
  const state = page.getByRole('combobox', { name: 'State' });
  await preview.getByLabel('Email').waitFor();
  await page.getByRole('textbox', { name: 'After joining' }).focus();
  await preview.getByText('1,203 people are ahead of you.').waitFor();
  await page.getByLabel('Destination address').focus();
  await preview.getByText('You’ve been let in.').waitFor();
  for (const [group, field, shown] of [
    ['a closed waitlist', 'This waitlist is closed.', 'This waitlist is closed.'],
    ['waiting for the click in the mail', 'Check your email', 'Open it to take your place on the list.'],
    ['the link in the mail', 'Confirm email', 'One more click, and your signup counts.'],
    ['an email that is not confirmed', 'Send me a link', 'No link from us yet?'],
    ['problems', 'Please check the form', 'Enter an email address, like name@example.com.'],
  ] as const) {
    await page.getByRole('button', { name: `Other texts: ${group}` }).click();
    await page.getByRole('textbox', { name: field, exact: true }).focus();
    await preview.getByText(shown).first().waitFor();
    await checkPage(page, `desk-settings-preview-${await state.inputValue()}`, { fullPage: false });
    await page.getByRole('button', { name: `Other texts: ${group}` }).click();
  }
  await page.context().close();
});

test('on a phone, the tabs stand in one row, and a button opens the preview', async () => {
  const page = await stage.openPage({ width: 390 });
  await stage.signIn(page, '/desk/1/settings/appearance');
  await page.getByRole('tab', { selected: true }).waitFor();
  const tops = await page.getByRole('tab').evaluateAll((tabs) => tabs.map((tab) => tab.getBoundingClientRect().top));
  assert.equal(new Set(tops).size, 1);
  await page.getByRole('tab', { name: 'Appearance' }).evaluate((tab) => {
    const { left, right } = tab.getBoundingClientRect();
    if (left < 0 || right > innerWidth) throw new Error('The open tab is out of sight.');
  });
  await page.getByRole('textbox', { name: 'After joining' }).fill('Welcome');
  await page.getByRole('button', { name: 'Preview' }).click();
  const dialog = page.getByRole('dialog', { name: 'Preview' });
  await page.frameLocator('iframe[title="Preview"]').getByText('Welcome').waitFor();
  await checkPage(page, 'desk-settings-preview-phone', { widths: [390], fullPage: false });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('textbox', { name: 'After joining' }).inputValue(), 'Welcome');
  await page.context().close();
});

test('a waitlist is deleted by typing its name as it is shown', async () => {
  const id = await createWaitlist({ waitlist_name: 'Short  lived' });
  const page = await openSettings('danger', id);
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

test('a waitlist gets a name in its address, which no other has, and says who invited', async () => {
  await createWaitlist({ waitlist_name: 'First', slug: 'lumen' });
  // As if it were a page of the owner's own.
  const waitlist_url_location = `${stage.service.url}/waitlist/lumen-one`;
  const id = await createWaitlist({ waitlist_name: 'Second', slug: 'lumen-one', waitlist_url_location });
  const page = await openSettings('form', id);
  const name = page.getByRole('textbox', { name: 'Short address' });
  for (const [typed, answer] of [
    ['Lümen', 'Use 3 to 40 characters'],
    ['lumen', 'Another waitlist has this name'],
  ] as const) {
    await name.fill(typed);
    await name.press('Enter');
    await page.getByText(answer).waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
  }
  await checkPage(page, 'desk-settings-slug');
  await name.fill(' Lumen-Two ');
  await name.press('Tab');
  assert.equal(await name.inputValue(), 'lumen-two');
  await save(page);
  await page.getByRole('tab', { name: 'Appearance' }).click();
  await page.getByLabel('Say who invited a visitor').check();
  await save(page);
  assert.equal(((await waitlist(id)) as { shows_inviter?: boolean }).shows_inviter, true);
  await page.getByRole('link', { name: 'Overview' }).click();
  const address = page.getByRole('region', { name: 'Your page' }).getByRole('textbox', { name: 'Address' });
  assert.equal(await address.inputValue(), `${stage.service.url}/waitlist/lumen-two`);
  await page.context().close();
});

test('mails are worded beside their preview, which comes by mail too', async () => {
  const mail = await MailServer.start();
  const mailing = await Stage.open({ SMTP_URL: mail.url, MAIL_FROM: 'launch@example.com' });
  const page = await mailing.openPage();
  await mailing.signIn(page, '/desk/1/settings/mails');
  const frame = page.frameLocator('iframe[title="The mail"]');
  await frame.getByText('Please confirm your email address.').waitFor();
  await page.getByLabel('Welcome people when they join').check();
  await page.getByLabel('Subject of the mail “Welcome”').fill('Hello {name}');
  await frame.getByText('You’re number 5 on the waitlist.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  const known = '{first_name}, {place}, {waitlist_name}, {link}';
  await page.getByText(`{name} is no placeholder of this mail. You can use ${known}.`).waitFor();
  await page.getByLabel('Subject of the mail “Welcome”').fill('Number {place}');
  await page.getByLabel('Text of the mail “Welcome”').fill('On {waitlist_name}.\nHello {first_name},');
  await page.getByText('Without a first name: “Hello ,”').waitFor();
  await save(page);
  await page.getByText('Number 5', { exact: true }).waitFor();
  await frame.getByText(/^On /).waitFor();
  // The policy of the desk would take the styles of the mail away.
  assert.equal(await frame.locator('table table').evaluate((card) => getComputedStyle(card).maxWidth), '480px');
  await checkPage(page, 'desk-mails');
  await page.getByRole('button', { name: 'Send me a test' }).click();
  await page.getByText('A test is on its way to your email').waitFor();
  await until(() => mail.arrived.length > 0);
  assert.deepEqual(
    mail.arrived.map(({ subject }) => subject),
    ['Number 5'],
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('dialog', { name: 'Preview' }).getByText('Number 5', { exact: true }).waitFor();
  await checkPage(page, 'desk-mails-preview', { widths: [390], fullPage: false });
  await mailing.close();
  await mail.stop();
});

test('words that another person saves while this one saves and goes on typing stay', async () => {
  const id = await createWaitlist({ waitlist_name: 'Shared', mails: { welcome: { text: 'Before' } } });
  const page = await openSettings('mails', id);
  const welcome = page.getByLabel('Text of the mail “Welcome”');
  const turn = page.getByLabel('Subject of the mail “Your turn”');
  let isTyped = () => {};
  const typed = new Promise<void>((resolve) => (isTyped = resolve));
  await page.route(`**/api/v1/waitlist/${id}`, async (route) => {
    if (route.request().method() === 'PATCH') await typed;
    await route.continue();
  });

  await turn.fill('First');
  await page.getByRole('button', { name: 'Save' }).click();
  await stage.configure(id, { mails: { welcome: { text: 'From the neighbor' } } });
  await turn.fill('Second');
  isTyped();
  await page.waitForFunction(() => document.querySelectorAll('textarea')[1]?.value === 'From the neighbor');
  await save(page);

  assert.equal(await welcome.inputValue(), 'From the neighbor');
  const { mails } = (await waitlist(id)) as unknown as { mails: Record<string, object> };
  assert.deepEqual(
    [mails.welcome, mails.your_turn],
    [
      { subject: null, text: 'From the neighbor' },
      { subject: 'Second', text: null },
    ],
  );
  await page.context().close();
});

test('the language is chosen by its name or tag; another one has English texts, and what is none is refused', async () => {
  const id = await createWaitlist({ waitlist_name: 'Lumen' });
  const page = await openSettings('appearance', id);
  const language = page.getByRole('combobox', { name: 'Language' });
  const options = page.getByRole('listbox', { name: 'Language' }).getByRole('option');
  await language.click();
  await options.first().waitFor();
  const names = await options.allTextContents();
  assert.deepEqual(names.slice(0, 3), ['Arabic (ar)', 'Chinese (Simplified) (zh-Hans)', 'Dutch (nl)']);
  assert.deepEqual(names, [...names].sort());
  await checkPage(page, 'desk-languages', { fullPage: false });

  for (const [typed, tag, says] of [
    ['German', 'de', 'German.'],
    ['português (Brasil)', 'pt-BR', 'Portuguese (Brazil).'],
    ['chinese', 'zh-Hans', 'Chinese (Simplified).'],
    ['de-at', 'de-AT', 'German (Austria).'],
    ['SV', 'sv', 'Swedish: our texts for it are English'],
  ] as const) {
    await language.fill(typed);
    await language.press('Tab');
    await page.getByText(says).waitFor();
    assert.equal(await language.inputValue(), tag);
  }
  await language.fill('Swedish');
  await language.press('Tab');
  await page.getByText('Choose a language from the list').waitFor();
  assert.equal(await language.getAttribute('aria-invalid'), 'true');
  await checkPage(page, 'desk-language-refused', { fullPage: false });

  await language.fill('ger');
  await options.getByText('German (de)').click();
  assert.equal(await language.inputValue(), 'de');
  await language.fill('polski');
  await language.press('Enter');
  await page.getByRole('status').getByText('Saved.').waitFor();
  assert.equal(((await waitlist(id)) as unknown as { lang: string }).lang, 'pl');
  await page.context().close();
});

test('texts in another script are written in its direction', async () => {
  const id = await createWaitlist({ waitlist_name: 'نور', lang: 'ar', texts: { introduction: 'كن أول من يجربه!' } });
  const page = await openSettings('appearance', id);
  const directionOf = (field: Locator) => field.evaluate((input) => getComputedStyle(input).direction);
  const introduction = page.getByLabel('Introduction');
  await introduction.waitFor();
  assert.equal(await directionOf(introduction), 'rtl');
  await page.getByRole('button', { name: 'Other texts: the form' }).click();
  await page.getByLabel('Already joined? See your place').fill('هل انضممت؟');
  assert.equal(await directionOf(page.getByLabel('Already joined? See your place')), 'rtl');
  await checkPage(page, 'desk-appearance-arabic');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('tab', { name: 'Mails' }).click();
  const text = page.getByLabel('Text of the mail “Welcome”');
  await text.fill('أهلًا {first_name}، رقمك {place}.');
  assert.equal(await directionOf(text), 'rtl');
  await checkPage(page, 'desk-mails-arabic');
  await page.context().close();
});
