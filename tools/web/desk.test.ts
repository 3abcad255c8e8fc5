/** The owner's desk by clicks and by keys: signing in and out, its frame, the overview and the account. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { call, checkPage, logIn, Stage } from './harness.js';

let stage: Stage;
before(async () => {
  stage = await Stage.open();
});
after(() => stage.close());

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** What a script of the page could read. */
const storedTexts = (page: Page) =>
  page.evaluate(() => [document.cookie, JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })]);

/** Ends all logins but one of its own, as another browser of the owner does. */
async function endOtherLogins(): Promise<void> {
  const token = await logIn(stage.service);
  const sessions = (await call(stage.service, 'GET', '/api/v1/auth/session', { token })) as {
    id: string;
    current: boolean;
  }[];
  for (const { id, current } of sessions)
    if (!current) await call(stage.service, 'DELETE', `/api/v1/auth/session/${id}`, { token, status: 204 });
}

describe('signing in', () => {
  it('leads to the address that was asked for, by keys alone', async () => {
    const page = await stage.openPage();
    const refused: string[] = [];
    page.on('response', (response) => response.status() >= 400 && refused.push(response.url()));
    await page.goto(`${stage.service.url}/desk/account`);
    await page.getByLabel(/^email/i).waitFor();
    await checkPage(page, 'desk-sign-in');
    assert.deepEqual(refused, []);
    assert.doesNotMatch(await page.innerText('main'), /terminal/);

    // The form has the focus.
    await page.keyboard.type(stage.service.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(stage.service.password);
    await page.keyboard.press('Enter');

    await heading(page, 'Account').waitFor();
    assert.equal(new URL(page.url()).pathname, '/desk/account');
    assert.equal(await page.title(), 'Account · Waitlist desk');
  });

  it('tells of wrong credentials, and keeps the email', async () => {
    const page = await stage.openPage();
    await page.goto(`${stage.service.url}/desk`);
    await page.getByLabel(/^email/i).fill(stage.service.email);
    await page.getByLabel(/^password/i).fill('not the password');
    await button(page, 'Sign in').click();

    await page.getByRole('alert').getByText(/wrong/i).waitFor();
    assert.equal(await page.getByLabel(/^email/i).inputValue(), stage.service.email);
    await checkPage(page);
  });

  it('waits as long as the service asks for after many attempts', async () => {
    const page = await stage.openPage();
    await page.route('**/api/v1/auth/session', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'content-type': 'application/problem+json', 'retry-after': '2' },
        body: JSON.stringify({ status: 429, error_code: 'TOO_MANY_ATTEMPTS', detail: 'Too many attempts.' }),
      }),
    );
    await page.goto(`${stage.service.url}/desk`);
    await page.getByLabel(/^email/i).fill(stage.service.email);
    await page.getByLabel(/^password/i).fill('guess');
    const waiting = page.getByRole('button', { name: /Try again in \d s/, disabled: true });
    // It stands there for two seconds only.
    await Promise.all([waiting.waitFor(), button(page, 'Sign in').click()]);

    await page.getByText('Too many attempts.').waitFor();
    await button(page, 'Sign in').waitFor();
  });

  it('leaves nothing of a token where scripts can read it', async () => {
    const page = await stage.openPage();
    await stage.signIn(page);
    await heading(page, 'Overview').waitFor();

    for (const text of await storedTexts(page)) assert.doesNotMatch(text, /eyJ/);
    assert.equal((await storedTexts(page))[0], '');
  });
});

describe('a login', () => {
  it('is refreshed unseen, in two tabs at once', async () => {
    const page = await stage.openPage();
    await stage.signIn(page);
    const other = await page.context().newPage();
    await other.goto(`${stage.service.url}/desk/account`);
    await heading(other, 'Account').waitFor();
    for (const tab of [page, other]) await tab.waitForLoadState('networkidle');

    const refreshed = Promise.all([page, other].map((tab) => tab.waitForResponse('**/api/v1/auth/session/refresh')));
    // As if the tokens had expired, for the public operation that the overview begins with too.
    const expire: Parameters<Page['route']>[1] = (route, request) =>
      route.continue({ headers: { ...request.headers(), authorization: 'Bearer expired' } });
    await page.route('**/api/v1/api_key', expire, { times: 1 });
    await other.route('**/api/v1/waitlist/1', expire, { times: 1 });
    await other.route('**/api/v1/waitlist/1/statistics*', expire, { times: 1 });
    await Promise.all([
      page.getByRole('link', { name: 'Account' }).first().click(),
      other.getByRole('link', { name: 'Overview' }).first().click(),
    ]);

    for (const response of await refreshed) assert.equal(response.status(), 200);
    await page.getByText('No key yet.').waitFor();
    await other.getByText('Joined per day').waitFor();
  });

  it('that has ended is asked for again over the page, which keeps what was typed', async () => {
    const page = await stage.openPage();
    await stage.signIn(page);
    await page.getByRole('button', { name: 'My waitlist' }).first().click();
    await page.getByRole('menuitem', { name: 'New waitlist' }).click();
    await page.getByLabel(/^name/i).fill('Typed before the login ended');
    await endOtherLogins();
    // Another request may have brought the dialog already, which lies above the button.
    await button(page, 'Create waitlist').dispatchEvent('click');

    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    await checkPage(page, 'desk-sign-in-again');
    await dialog.getByLabel(/^email/i).fill(stage.service.email);
    await dialog.getByLabel(/^password/i).fill(stage.service.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('button', { name: 'Typed before the login ended' }).first().waitFor();
  });

  it('makes a waitlist that asks for the email alone, or for names and then shows who invited, has links to share, and is shown at once', async () => {
    const page = await stage.openPage();
    await stage.signIn(page);
    await page.getByRole('navigation').getByRole('button').first().click();
    await page.getByRole('menuitem', { name: 'New waitlist' }).click();
    await page.getByRole('dialog', { name: 'New waitlist' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('nav button:focus').waitFor();
    const make = async (name: string, ...asked: string[]) => {
      await page.getByRole('navigation').getByRole('button').first().click();
      await page.getByRole('menuitem', { name: 'New waitlist' }).click();
      const dialog = page.getByRole('dialog', { name: 'New waitlist' });
      await dialog.getByLabel(/^name/i).fill(name);
      for (const field of asked) await dialog.getByRole('checkbox', { name: field }).check();
      await checkPage(page, 'desk-new-waitlist');
      await button(page, 'Create waitlist').click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name }).first().waitFor();
      await heading(page, 'Overview').waitFor();
      const [, id] = /desk\/(\d+)\/overview/.exec(page.url()) ?? [];
      const visitor = await stage.openPage();
      await visitor.goto(`${stage.service.url}/waitlist/${id}`);
      await visitor.getByRole('heading', { name }).waitFor();
      const labels = await visitor.locator('label:visible').allInnerTexts();
      await visitor.context().close();
      return [id, labels.map((label) => label.replace(/\s*\(optional\)/, ''))] as const;
    };
    const [id, labels] = await make('Bare');
    assert.deepEqual(labels, ['Email']);
    const [other, withMore] = await make('With more', 'First name', 'Phone');
    assert.deepEqual(withMore, ['First name', 'Email', 'Phone']);
    const token = await logIn(stage.service);
    const made = await Promise.all(
      [id, other].map((one) => call(stage.service, 'GET', `/api/v1/waitlist/${one}`, { token })),
    );
    assert.deepEqual(
      made.map(({ widget_shows_social_links, shows_inviter }) => [widget_shows_social_links, shows_inviter]),
      [
        [true, false],
        [true, true],
      ],
    );
    await page.context().close();
  });

  it('of another account loads the page anew, and what was typed is not sent in its name', async () => {
    const page = await stage.openPage();
    await stage.signIn(page);
    await page.getByRole('button', { name: 'My waitlist' }).first().click();
    await page.getByRole('menuitem', { name: 'New waitlist' }).click();
    await page.getByLabel(/^name/i).fill('Typed by the first account');
    await endOtherLogins();
    // Here too, the dialog may be above it.
    await button(page, 'Create waitlist').dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    const claims = Buffer.from(JSON.stringify({ sub: '4711' })).toString('base64url');
    await page.route('**/api/v1/auth/session', (route) =>
      route.fulfill({ json: { access_token: `e30.${claims}.e30` } }),
    );
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));

    await dialog.getByLabel(/^email/i).fill('other@example.com');
    await dialog.getByLabel(/^password/i).fill('any password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();

    // Its cookie is that of the login that has ended.
    await heading(page, 'Sign in').waitFor();
    assert.equal(sent.includes('GET /desk') || sent.some((request) => request.startsWith('GET /desk/')), true);
    assert.equal(sent.includes('POST /api/v1/waitlist'), false);
  });

  it('ends with signing out, in the other tab too, and the way back shows nothing', async () => {
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/profile');
    const other = await page.context().newPage();
    await other.goto(`${stage.service.url}/desk/1/overview`);
    await heading(other, 'Overview').waitFor();

    await button(page, 'Sign out').click();

    for (const tab of [page, other]) await heading(tab, 'Sign in').waitFor();
    await page.goBack();
    await heading(page, 'Sign in').waitFor();
  });
});

describe('the frame', () => {
  it('keeps the page when the connection is lost, and goes on when it is back', async () => {
    const page = await stage.openPage();
    await stage.signIn(page);
    await page.waitForLoadState('networkidle');
    await page.context().setOffline(true);
    const notice = page.getByRole('status').filter({ hasText: 'No connection to the service' });
    await notice.waitFor();
    const colorOf = (element: Element) => getComputedStyle(element).backgroundColor;
    assert.notEqual(await notice.evaluate(colorOf), 'rgba(0, 0, 0, 0)');
    await page.getByRole('link', { name: 'Account' }).first().click();
    await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    await checkPage(page, 'desk-connection-lost');

    await page.context().setOffline(false);

    await page.getByText('No key yet.').waitFor();
    await page.getByText('No connection to the service').first().waitFor({ state: 'detached' });
  });

  it('leads through the pages by keys alone, and tells a screen reader where it is', async () => {
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/1/overview');
    await heading(page, 'Overview').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'page');

    await page.getByRole('link', { name: 'Account' }).first().focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Account').and(page.locator(':focus')).waitFor();

    await page.keyboard.press('/');
    await page.waitForFunction(() => document.activeElement?.matches('input[type="search"]'));
    assert.equal(new URL(page.url()).pathname, '/desk/1/people');
  });

  it('leads from the address of a waitlist to its overview', async () => {
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/1');
    await page.waitForURL('**/desk/1/overview');
    await page.goto(`${stage.service.url}/desk/1/`);
    await page.waitForURL('**/desk/1/overview');
    await heading(page, 'Overview').waitFor();
  });

  it('says that an address leads to nothing', async () => {
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/99999/overview');
    await heading(page, 'Not found').waitFor();
    await page.goto(`${stage.service.url}/desk/nowhere/at/all`);
    await heading(page, 'Not found').waitFor();
    await checkPage(page, 'desk-not-found');
  });

  it('shows a hostile name as text', async () => {
    const token = await logIn(stage.service);
    const waitlist_name = '<img src=x onerror="document.title=1"> & {{name}}';
    await call(stage.service, 'POST', '/api/v1/waitlist', { body: { waitlist_name }, token, status: 201 });
    const page = await stage.openPage({ width: 390 });
    await stage.signIn(page);
    await heading(page, 'Overview').waitFor();
    await page.locator('header').getByRole('button', { name: 'My waitlist' }).click();

    await page.locator('header').getByRole('menuitem', { name: waitlist_name }).waitFor();
    await checkPage(page);
  });

  it('changes its colors', async () => {
    const page = await stage.openPage({ colorScheme: 'light' });
    await stage.signIn(page);
    await page.getByRole('button', { name: 'Colors: System' }).first().click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();

    await page.waitForFunction(() => document.documentElement.dataset.mantineColorScheme === 'dark');
  });
});

describe('the overview', () => {
  it('shows what is left to do on a new waitlist', async () => {
    const token = await logIn(stage.service);
    const body = { waitlist_name: 'Empty' };
    const { id } = (await call(stage.service, 'POST', '/api/v1/waitlist', { body, token, status: 201 })) as {
      id: number;
    };
    const page = await stage.openPage();
    await stage.signIn(page, `/desk/${id}/overview`);

    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    await page.getByText('(done)').first().waitFor({ state: 'attached' });
    assert.equal(await page.getByText('(done)').count(), 1);
    await page.getByText('0 joined in 30 days').first().waitFor();
    await page.getByText('The waitlist is new, so 7 days are shown.').waitFor();
    await checkPage(page, 'desk-overview-empty');
  });

  it('shows figures, the days as a chart and as numbers, the top referrers, and the page', async () => {
    await stage.importPeople(200);
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/1/overview');
    await page.getByText('+200 in 7 days').first().waitFor();
    await page.getByText('20 of 200 people').waitFor();
    await page.locator('.recharts-surface').first().waitFor();
    await checkPage(page, 'desk-overview');

    await page.getByText('7 days', { exact: true }).click();
    await page.waitForURL(({ search }) => search === '?days=7');
    await button(page, 'Show the numbers').click();
    const today = page.getByRole('row').nth(1);
    await today.waitFor();
    assert.deepEqual(await today.getByRole('cell').allTextContents(), ['200', '20', '0', '0']);
    await checkPage(page, 'desk-overview-numbers');

    assert.equal(await page.getByText('The waitlist is new').count(), 0);
    const address = page.getByRole('textbox', { name: 'Address' });
    const isWhole = (field: Element) =>
      field.scrollWidth <= field.clientWidth && field.scrollHeight <= field.clientHeight;
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await address.evaluate(isWhole), true);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Copy: Address' }).click();
    await page.getByRole('button', { name: 'Address: copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${stage.service.url}/waitlist/1`);
    await page.getByRole('link', { name: 'person-1@example.com' }).click();
    await page.waitForURL(/\/desk\/1\/people\/[0-9a-f-]{36}/);
  });

  it('shows who joined meanwhile, by itself', async () => {
    const id = await stage.waitlist();
    const page = await stage.openPage();
    await stage.signIn(page, `/desk/${id}/overview`);
    const inLine = (number: number) =>
      page
        .locator('dl > *')
        .filter({ hasText: /^In line/ })
        .getByText(String(number), { exact: true });
    await inLine(0).waitFor();
    await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id: id, email: 'new@example.com' } });
    await inLine(1).waitFor();
  });
});

describe('the account', () => {
  it('makes a key that is shown once and works, and revokes it', async () => {
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/account');
    await button(page, 'Create key').click();
    await page.getByLabel(/^name/i).fill('Monthly report');
    await checkPage(page, 'desk-account-key-form');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const key = await page.getByLabel('Account key', { exact: true }).inputValue();
    await button(page, 'I have saved it').click();
    const list = () => fetch(`${stage.service.url}/api/v1/waitlist`, { headers: { 'api-key': key } });
    assert.equal((await list()).status, 200);
    await page.getByRole('row').filter({ hasText: 'Monthly report' }).waitFor();

    await button(page, 'Revoke Monthly report').click();
    await checkPage(page);
    await button(page, 'Revoke key').click();

    await page.getByText('No key yet.').waitFor();
    assert.equal((await list()).status, 401);
  });

  it('shows its logins and ends one; the audit log tells of it', async () => {
    await logIn(stage.service);
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/profile');
    await page.getByText('This login').waitFor();
    const ends = page.getByRole('button', { name: /^End the login of/ });
    const before = await ends.count();
    assert.ok(before > 0);
    await ends.first().click();
    await button(page, 'End login').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.waitForFunction(
      (count) =>
        [...document.querySelectorAll('button')].filter(({ textContent }) => textContent === 'End').length < count,
      before,
    );

    await page.goto(`${stage.service.url}/desk/account`);
    await page.getByRole('cell', { name: 'Login ended' }).first().waitFor();
    await page.getByLabel('Waitlist', { exact: true }).selectOption('My waitlist');
    await page.waitForURL(/waitlist=1/);
    await page.getByRole('cell', { name: 'Login ended' }).first().waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Waitlist created' }).first().waitFor();
    assert.equal(await page.getByRole('cell', { name: 'Login ended' }).count(), 0);
    await page.getByLabel('Person').fill('no uuid');
    await page.getByText('Paste the address of a person’s page at the desk.').waitFor();
    // An address has its person's UUID in it.
    await page.getByLabel('Person').fill(`${stage.service.url}/desk/1/people/0199f2a4-5b6c-7def-8a90-123456789abc`);
    await page.waitForURL(/uuid=0199f2a4-5b6c-7def-8a90-123456789abc$/);
    await page.getByText('No matching events.').waitFor();
    await checkPage(page, 'desk-account');
  });

  it('changes the password, with the faults beside the fields', async () => {
    const page = await stage.openPage();
    await stage.signIn(page, '/desk/profile');
    await page.getByLabel(/^current password/i).fill('not the password');
    await page.getByLabel(/^new password/i).fill('brisk otter plum canyon fizz');
    await button(page, 'Change password').click();
    await page.getByText('This is not your current password.').waitFor();
    await checkPage(page, 'desk-password-fault');

    await page.getByLabel(/^current password/i).fill(stage.service.password);
    await button(page, 'Change password').click();
    await page.getByText('Password changed').waitFor();
    stage.service.password = 'brisk otter plum canyon fizz';
    await page
      .getByRole('button', { name: /^End the login of/ })
      .first()
      .waitFor({ state: 'detached' });
  });
});

describe('the team, where no mail goes out', () => {
  it('gives the owner the links of invitations and new passwords, once', async () => {
    const owner = await stage.openPage();
    await stage.signIn(owner, '/desk/team');
    const email = 'linus@example.com';
    const act = async (name: string) => {
      await button(owner, `Manage ${email}`).click();
      await owner.getByRole('dialog').getByRole('button', { name, exact: true }).click();
      await owner.getByRole('dialog', { name: /\?$/ }).getByRole('button', { name, exact: true }).click();
    };
    const takeLink = async (label: string) => {
      const link = await owner.getByLabel(label, { exact: true }).inputValue();
      await checkPage(owner, `desk-${label.toLowerCase().replaceAll(' ', '-')}`);
      await button(owner, 'I have saved it').click();
      await owner.getByRole('dialog').waitFor({ state: 'detached' });
      return link;
    };
    await button(owner, 'Invite a member').click();
    await owner.getByLabel(/^email/i).fill(email);
    await button(owner, 'Invite').click();
    const earlier = await takeLink('Invitation link');
    await act('Make a new invitation');
    const link = await takeLink('Invitation link');
    assert.notEqual(link, earlier);

    const visitor = await stage.openPage();
    await visitor.goto(earlier);
    await heading(visitor, 'This invitation has ended').waitFor();
    await visitor.goto(link);
    await visitor.getByLabel(/^password/i).fill('brisk otter plum canyon fizz');
    await button(visitor, 'Accept the invitation').click();
    await heading(visitor, 'Overview').waitFor();

    await owner.reload();
    await act('Let them set a new password');
    assert.match(await takeLink('Link for a new password'), /\/desk\/reset#./);
    await act('Disable');
    await owner.getByRole('row').filter({ hasText: email }).getByText('Disabled').waitFor();
    await act('Enable');
    await owner.getByRole('row').filter({ hasText: email }).getByText('Active').waitFor();
  });
});
