/** The team and the own login by clicks: invitations, roles, second factors, passwords that were forgotten. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateSync } from 'otplib';
import type { Page } from 'playwright-core';
import { MailServer } from '../../test/support/mail-server.js';
import { call, checkPage, logIn, Stage } from './harness.js';

const PASSWORD = 'brisk otter plum canyon fizz';
const OTHER_PASSWORD = 'quiet maple ember tundra vow';

let mail: MailServer;
let stage: Stage;
before(async () => {
  mail = await MailServer.start();
  stage = await Stage.open({ SMTP_URL: mail.url, MAIL_FROM: 'Acme <acme@example.com>' });
  await stage.importPeople(3);
});
after(async () => {
  await stage.close();
  await mail.stop();
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').last().getByRole('button', { name, exact: true });
const memberRow = (page: Page, email: string) => page.getByRole('row').filter({ hasText: email });

async function signIn(page: Page, email: string, password: string, path = '/desk'): Promise<void> {
  await page.goto(`${stage.service.url}${path}`);
  await page.getByLabel(/^email/i).fill(email);
  await page.getByLabel(/^password/i).fill(password);
  await button(page, 'Sign in').click();
}

/** The link that the last mail to an address holds. */
async function linkTo(email: string, path: 'invitation' | 'reset', mails = 1): Promise<string> {
  const all = await mail.mailsTo(email, mails);
  const link = all
    .at(-1)
    ?.text?.split(/\s/)
    .find((word) => word.includes(`/desk/${path}#`));
  assert.ok(link, `The mail to ${email} has no link`);
  return link;
}

async function invite(page: Page, email: string, role: string): Promise<void> {
  await button(page, 'Invite a member').click();
  await page.getByLabel(/^email/i).fill(email);
  await page.getByRole('radio', { name: role }).check();
  await inDialog(page, 'Invite').click();
  await page.getByText(`We mailed the invitation to ${email}.`).waitFor();
  await memberRow(page, email).getByText('Invited').waitFor();
}

/** A member with {@link PASSWORD}, without clicks. */
async function member(email: string, role: string): Promise<string> {
  const token = await logIn(stage.service);
  const invited = (await call(stage.service, 'POST', '/api/v1/member', {
    body: { email, role },
    token,
    status: 201,
  })) as { id: string; invitation_url: string };
  const [, linkToken] = invited.invitation_url.split('#');
  await call(stage.service, 'POST', '/api/v1/auth/invitation/accept', {
    body: { token: linkToken, password: PASSWORD },
    status: 204,
  });
  return invited.id;
}

async function changeMember(id: string, body: object): Promise<void> {
  await call(stage.service, 'PATCH', `/api/v1/member/${id}`, { body, token: await logIn(stage.service) });
}

describe('a member', () => {
  it('is invited by mail, accepts with a password, and is signed in', async () => {
    const owner = await stage.openPage();
    await stage.signIn(owner, '/desk/team');
    await heading(owner, 'Team').waitFor();
    await button(owner, 'Invite a member').click();
    await checkPage(owner, 'desk-invite');
    await owner.keyboard.press('Escape');
    await invite(owner, 'grace@example.com', 'Editor');
    await checkPage(owner, 'desk-team');
    await owner.setViewportSize({ width: 390, height: 844 });
    const manage = await button(owner, 'Manage grace@example.com').boundingBox();
    assert.ok(manage && manage.x + manage.width <= 390, 'A phone does not show how to manage a member');
    await owner.setViewportSize({ width: 1280, height: 800 });

    const page = await stage.openPage();
    const link = await linkTo('grace@example.com', 'invitation');
    await page.goto(link);
    await heading(page, 'You are invited').waitFor();
    assert.equal(page.url(), link.split('#')[0]);
    await page.getByText('grace@example.com').waitFor();
    await checkPage(page, 'desk-invitation');
    await page.reload();
    await heading(page, 'This invitation has ended').waitFor();
    await page.goto(link);
    await page.getByLabel(/^your name/i).fill('Grace Hopper');
    await page.getByLabel(/^password/i).fill('short');
    await button(page, 'Accept the invitation').click();
    await page
      .getByText(/at least 15/i)
      .last()
      .waitFor();
    await page.getByLabel(/^password/i).fill(PASSWORD);
    await button(page, 'Accept the invitation').click();
    await heading(page, 'Overview').waitFor();
    await page.goBack();
    await heading(page, 'This invitation has ended').waitFor();
    await page.goForward();
    await heading(page, 'Overview').waitFor();

    await page
      .getByRole('button', { name: /^Signed in as Grace Hopper/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Profile' }).waitFor();
    await checkPage(page, 'desk-account-menu');
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: /^Signed in as Grace Hopper/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await checkPage(page, 'desk-account-menu-phone', { widths: [390], fullPage: false });
    await owner.reload();
    await memberRow(owner, 'Grace Hopper').getByText('Active').waitFor();

    const second = await stage.openPage();
    await second.goto(link);
    await heading(second, 'This invitation has ended').waitFor();
    await checkPage(second, 'desk-invitation-ended');
  });

  it('sees as a viewer nothing that it may not do, and as an editor nothing of the account', async () => {
    const id = await member('vera@example.com', 'viewer');
    await call(stage.service, 'POST', '/api/v1/waitlist/1/webhook', {
      body: { url: 'https://example.com/hook' },
      token: await logIn(stage.service),
      status: 201,
    });
    await stage.configure(1, { texts: { find: 'Where am I?' } });
    const page = await stage.openPage();
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    await signIn(page, 'vera@example.com', PASSWORD, '/desk/1/people');
    await page.getByText('person-1@example.com').first().waitFor();
    for (const name of ['Let next people in', 'Offer seats', 'Invite a member'])
      assert.equal(await button(page, name).count(), 0);
    assert.equal(await page.getByRole('checkbox').count(), 0);
    await checkPage(page, 'desk-viewer-people');
    await page.getByText('person-1@example.com').first().click();
    const panel = page.getByRole('dialog');
    await panel.getByRole('heading', { name: 'Contact' }).waitFor();
    for (const name of ['Let in', 'Offer a seat', 'Move', 'Edit', 'Erase'])
      assert.equal(await panel.getByRole('button', { name, exact: true }).count(), 0, name);
    await checkPage(page, 'desk-viewer-person');
    await page.keyboard.press('Escape');
    for (const [path, title] of [
      ['1/transfer', 'Import and export'],
      ['team', 'Team'],
      ['account', 'Account'],
      ['1/settings/danger', 'Settings'],
    ]) {
      await page.goto(`${stage.service.url}/desk/${path}`);
      await heading(page, title!).waitFor();
      await page.getByText(/^This page needs the role/).waitFor();
    }
    await checkPage(page, 'desk-not-allowed');
    for (const tab of ['form', 'referrals', 'trust', 'mails', 'offers', 'release', 'appearance', 'keys', 'webhooks']) {
      await page.goto(`${stage.service.url}/desk/1/settings/${tab}`);
      await heading(page, 'Settings').waitFor();
      await page.getByRole('tabpanel').waitFor();
      await checkPage(page, `desk-viewer-settings-${tab}`);
      const fields = page.locator('#page form :is(input, textarea, select)');
      assert.equal(await fields.and(page.locator(':enabled')).count(), 0, tab);
      const values = await fields.evaluateAll((all) => all.map((field) => (field as HTMLInputElement).value));
      // Groups of texts are closed, and cannot be opened here.
      if (tab === 'appearance') assert.ok(values.includes('Where am I?'));
    }
    await button(page, 'Show deliveries').click();
    await page.getByText('No deliveries yet.').waitFor();
    for (const name of ['Add a webhook', 'Edit', 'Delete', 'Send a test'])
      assert.equal(await button(page, name).count(), 0, name);
    assert.deepEqual(refused, []);

    await changeMember(id, { role: 'editor' });
    await page.goto(`${stage.service.url}/desk/1/people`);
    await button(page, 'Let next people in').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Team' }).count(), 0);
    await page.goto(`${stage.service.url}/desk/1/transfer`);
    await page.getByText('Check the file').or(page.locator('input[type=file]')).first().waitFor({ state: 'attached' });
    assert.deepEqual(refused, []);

    // An open desk learns of a change by the refusal.
    await page.goto(`${stage.service.url}/desk/1/people`);
    await button(page, 'Let next people in').click();
    await page.getByLabel(/^how many/i).fill('1');
    await changeMember(id, { role: 'viewer' });
    await inDialog(page, 'Let 1 person in').click();
    await page.getByText('Your role does not allow this. Ask an owner of your account.').waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Let next people in').waitFor({ state: 'detached' });
  });

  it('changes its role at the team page, and is out as soon as it is removed, with its keys shown before', async () => {
    await member('rhea@example.com', 'owner');
    const page = await stage.openPage();
    await signIn(page, 'rhea@example.com', PASSWORD, '/desk/account');
    await button(page, 'Create key').click();
    await page.getByLabel(/^name/i).fill('Nightly report');
    await page.getByRole('combobox', { name: 'Waitlists' }).click();
    await page.getByRole('option', { name: 'My waitlist (1)' }).click();
    await page.keyboard.press('Escape');
    await checkPage(page, 'desk-key-of-waitlists');
    await inDialog(page, 'Create key').click();
    await button(page, 'I have saved it').click();
    const keyRow = page.getByRole('row').filter({ hasText: 'Nightly report' });
    await keyRow.getByText('My waitlist').waitFor();
    await keyRow.getByText('by rhea@example.com').waitFor();

    const owner = await stage.openPage();
    await stage.signIn(owner, '/desk/team');
    await memberRow(owner, 'rhea@example.com').getByRole('button').click();
    await checkPage(owner, 'desk-member');
    await owner.getByRole('radio', { name: 'Viewer' }).check();
    await inDialog(owner, 'Save').click();
    await memberRow(owner, 'rhea@example.com').getByText('Viewer').waitFor();
    await memberRow(owner, 'rhea@example.com').getByRole('button').click();
    await inDialog(owner, 'Remove').click();
    await owner.getByText(/Nightly report/).waitFor();
    await checkPage(owner, 'desk-member-remove');
    await inDialog(owner, 'Remove').click();
    await memberRow(owner, 'rhea@example.com').waitFor({ state: 'detached' });

    await page.goto(`${stage.service.url}/desk/profile`);
    await heading(page, 'Sign in').waitFor();
    await owner.goto(`${stage.service.url}/desk/account`);
    await owner.getByRole('cell', { name: 'Member removed' }).waitFor();
    await owner.getByLabel('Done by').selectOption({ label: stage.service.email });
    await owner.waitForURL(/member=/);
    await owner.getByRole('cell', { name: 'Member removed' }).waitFor();
    await owner.getByRole('cell', { name: 'Account key created' }).waitFor({ state: 'detached' });
    await checkPage(owner, 'desk-audit-members');
    const doneBy = owner.getByLabel('Done by');
    await doneBy.selectOption({ label: 'Everybody' });
    const removed = doneBy.getByRole('option', { name: /^Removed member/ });
    await doneBy.selectOption(await removed.first().getAttribute('value'));
    await owner.getByRole('cell', { name: 'Account key created' }).waitFor();
    await owner.getByRole('cell', { name: 'Member removed' }).waitFor({ state: 'detached' });
  });
});

describe('an owner', () => {
  it('who disables itself is signed out at once', async () => {
    await member('dora@example.com', 'owner');
    const page = await stage.openPage();
    await signIn(page, 'dora@example.com', PASSWORD, '/desk/team');
    await memberRow(page, 'dora@example.com').getByRole('button').click();
    await inDialog(page, 'Disable').click();
    await page.getByText('This is you: you are signed out at once.').waitFor();
    await inDialog(page, 'Disable').click();
    await heading(page, 'Sign in').waitFor();
  });
});

describe('a password that was forgotten', () => {
  it('is set anew by a mailed link, once', async () => {
    await member('fred@example.com', 'editor');
    const page = await stage.openPage();
    await page.goto(`${stage.service.url}/desk`);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel(/^email/i).fill('nobody@example.com');
    await checkPage(page, 'desk-forgotten');
    await button(page, 'Mail me a link').click();
    await heading(page, 'Check your mail').waitFor();
    await checkPage(page, 'desk-forgotten-sent');
    await page.goto(`${stage.service.url}/desk/forgotten`);
    await page.getByLabel(/^email/i).fill('fred@example.com');
    await button(page, 'Mail me a link').click();
    await heading(page, 'Check your mail').waitFor();

    // The invitation was mailed first.
    const link = await linkTo('fred@example.com', 'reset', 2);
    await page.goto(link);
    await heading(page, 'Set a new password').waitFor();
    assert.equal(page.url(), link.split('#')[0]);
    await checkPage(page, 'desk-reset');
    await page.getByLabel(/^new password/i).fill('short');
    await button(page, 'Set password').click();
    await page
      .getByText(/at least 15/i)
      .last()
      .waitFor();
    await page.getByLabel(/^new password/i).fill(OTHER_PASSWORD);
    await button(page, 'Set password').click();
    await heading(page, 'Password changed').waitFor();
    await page.getByRole('link', { name: 'Go to sign in' }).click();
    await page.getByLabel(/^email/i).fill('fred@example.com');
    await page.getByLabel(/^password/i).fill(OTHER_PASSWORD);
    await button(page, 'Sign in').click();
    await heading(page, 'Overview').waitFor();

    await page.goto(link);
    await page.getByLabel(/^new password/i).fill(PASSWORD);
    await button(page, 'Set password').click();
    await heading(page, 'This link has ended').waitFor();
    await checkPage(page, 'desk-reset-ended');
  });
});

describe('a second factor', () => {
  it('is set up with a code, asked for at sign-in, replaced by a recovery code, and reset by an owner', async () => {
    await member('otto@example.com', 'viewer');
    const page = await stage.openPage();
    await signIn(page, 'otto@example.com', PASSWORD, '/desk/profile');
    await heading(page, 'Profile').waitFor();
    await checkPage(page, 'desk-profile');
    await button(page, 'Set up').click();
    await page
      .getByRole('dialog')
      .getByLabel(/^current password/i)
      .fill('not the password');
    await button(page, 'Go on').click();
    await page.getByText('This is not your current password.').waitFor();
    await page
      .getByRole('dialog')
      .getByLabel(/^current password/i)
      .fill(PASSWORD);
    await button(page, 'Go on').click();
    await page.getByLabel(/^code/i).fill('000000');
    await checkPage(page, 'desk-two-factor');
    await button(page, 'Turn it on').click();
    await page.getByText(/^This code is wrong or was used already/).waitFor();
    const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
    await page.getByLabel(/^code/i).fill(generateSync({ secret }));
    await button(page, 'Turn it on').click();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await codes.first().waitFor();
    assert.equal(await codes.count(), 10);
    await checkPage(page, 'desk-recovery-codes');
    const [recoveryCode, otherRecoveryCode] = await codes.allInnerTexts();
    const download = page.waitForEvent('download');
    await button(page, 'Download').click();
    assert.equal((await download).suggestedFilename(), 'recovery-codes.txt');
    await button(page, 'I have saved them').click();
    await button(page, 'Turn off').waitFor();

    const again = await stage.openPage();
    await signIn(again, 'otto@example.com', PASSWORD);
    await again.getByLabel(/^code/i).fill('000000');
    await button(again, 'Sign in').click();
    await again.getByText(/^This code is wrong or was used already/).waitFor();
    await checkPage(again, 'desk-sign-in-code');
    await again.getByText('member reset-two-factor').waitFor();
    await again.getByLabel(/^code/i).fill(recoveryCode!);
    await button(again, 'Sign in').click();
    await heading(again, 'Overview').waitFor();
    await again.goto(`${stage.service.url}/desk/profile`);
    await button(again, 'Make new recovery codes').click();
    await again.getByRole('dialog').getByText('or one of your recovery codes').waitFor();
    await again.getByLabel(/^code/i).fill(otherRecoveryCode!);
    await button(again, 'Make new codes').click();
    await button(again, 'I have saved them').click();

    const owner = await stage.openPage();
    await stage.signIn(owner, '/desk/team');
    await memberRow(owner, 'otto@example.com').getByRole('button').click();
    await inDialog(owner, 'Reset the second factor').click();
    await inDialog(owner, 'Reset the second factor').click();
    await owner.getByText('The second factor is off, and all logins of the member have ended.').waitFor();
    await signIn(again, 'otto@example.com', PASSWORD);
    await heading(again, 'Overview').waitFor();
  });

  it('that an owner requires leads members without one to their profile, and to nothing else', async () => {
    await member('rita@example.com', 'editor');
    const owner = await stage.openPage();
    await stage.signIn(owner, '/desk/team');
    await owner.getByRole('switch', { name: /^Require a second factor/ }).click();
    await owner.getByText(/without one can open only the profile/).waitFor();
    await owner.getByText('You have none yet.').waitFor();
    await checkPage(owner, 'desk-require-second-factor');
    await inDialog(owner, 'Require it').click();

    const page = await stage.openPage();
    await signIn(page, 'rita@example.com', PASSWORD, '/desk/1/people');
    await heading(page, 'Profile').waitFor();
    await page.getByText('Your account requires a second factor').waitFor();
    assert.equal(new URL(page.url()).pathname, '/desk/profile');
    await checkPage(page, 'desk-second-factor-required');
    await button(page, 'Set up').click();
    await page
      .getByRole('dialog')
      .getByLabel(/^current password/i)
      .fill(PASSWORD);
    await button(page, 'Go on').click();
    const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
    await page.getByLabel(/^code/i).fill(generateSync({ secret }));
    await button(page, 'Turn it on').click();
    await button(page, 'I have saved them').click();
    await page.getByText('Your account requires a second factor').waitFor({ state: 'detached' });
    await button(page, 'Turn off').click();
    await page.getByText('only your profile opens until you set up another').waitFor();
    await button(page, 'Cancel').click();
    await page.getByRole('link', { name: 'People' }).first().click();
    await page.getByText('person-1@example.com').first().waitFor();

    // The owner has none either.
    await owner.getByRole('link', { name: 'Account' }).first().click();
    await heading(owner, 'Profile').waitFor();
    await owner.getByText('Your account requires a second factor').waitFor();
  });
});
