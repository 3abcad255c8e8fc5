/** Single sign-on by clicks, with a real provider: by invitation, without one, refused, and linked from the profile. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { IdentityProvider } from '../../test/support/identity-provider.js';
import { freePort } from '../../test/support/service-process.js';
import { call, checkPage, logIn, Stage } from './harness.js';

const NAME = 'Acme ID';

let provider: IdentityProvider;
let stage: Stage;
before(async () => {
  const port = await freePort();
  provider = await IdentityProvider.start({ serviceUrl: `http://localhost:${port}` });
  stage = await Stage.open({ ...provider.environment, OIDC_NAME: NAME, PORT: String(port) });
});
after(async () => {
  await stage.close();
  await provider.stop();
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const providerButton = (page: Page) => page.getByRole('link', { name: `Sign in with ${NAME}` });
const openPage = () => stage.openPage({ origins: [provider.issuer] });

/** Whoever goes to the provider from now on is this person there; null refuses to sign in. */
async function become(email: string | null, claims: object = {}): Promise<void> {
  const { headers } = await fetch(`${stage.service.url}/api/v1/auth/sso`, { redirect: 'manual' });
  const person = email === null ? null : { sub: randomUUID(), email, email_verified: true, ...claims };
  await provider.signIn(String(headers.get('location')), person);
}

async function invite(email: string): Promise<string> {
  const body = { email, role: 'editor' };
  const { invitation_url: link } = (await call(stage.service, 'POST', '/api/v1/member', {
    body,
    token: await logIn(stage.service),
    status: 201,
  })) as { invitation_url: string };
  return link;
}

describe('single sign-on', () => {
  it('joins by an invitation, and stays signed in', async () => {
    await become('ida@example.com');
    const page = await openPage();
    await page.goto(await invite('ida@example.com'));
    await page.getByText('ida@example.com').waitFor();
    await checkPage(page, 'desk-invitation-sso');
    await providerButton(page).click();
    await heading(page, 'Overview').waitFor();

    await page.goto(`${stage.service.url}/desk/profile`);
    await page.getByText(`You can sign in with ${NAME}.`).waitFor();
    assert.equal(await page.getByLabel(/password/i).count(), 0);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await heading(page, 'Sign in').waitFor();
    await checkPage(page, 'desk-sign-in-sso');
    await providerButton(page).click();
    await heading(page, 'Overview').waitFor();
  });

  it('is found by a page that no click of this browser began', async () => {
    await become('isa@example.com');
    await invite('isa@example.com');
    const page = await openPage();
    await page.goto(`${stage.service.url}/api/v1/auth/sso`);
    await heading(page, 'Overview').waitFor();
  });

  for (const [code, who, words] of [
    ['NOT_INVITED', () => become('stranger@example.com'), 'If you have a password here, sign in with it, and link'],
    ['EMAIL_NOT_VERIFIED', () => become('owner@example.com', { email_verified: false }), 'has not verified your email'],
    ['SSO_REFUSED', () => become(null), 'The sign-in did not work, or took too long.'],
  ] as const)
    it(`says in words why it failed: ${code}`, async () => {
      await who();
      const page = await openPage();
      await page.goto(`${stage.service.url}/desk`);
      await providerButton(page).click();
      await page.getByRole('alert').getByText(words).waitFor();
      assert.equal(new URL(page.url()).search, `?error=${code}`);
      await checkPage(page, `desk-sign-in-${code.toLowerCase().replaceAll('_', '-')}`);

      await page.getByLabel(/^email/i).fill(stage.service.email);
      await page.getByLabel(/^password/i).fill(stage.service.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await heading(page, 'Overview').waitFor();
    });

  it('is linked from the profile, also with another email', async () => {
    await become('other-address@example.net');
    const page = await openPage();
    await stage.signIn(page, '/desk/profile');
    await page.getByRole('button', { name: `Link ${NAME}` }).click();
    await page.getByText(`You can sign in with ${NAME}.`).waitFor();
    await heading(page, 'Profile').waitFor();
    await checkPage(page, 'desk-profile-sso');
  });

  it('alone is offered where passwords are off', async () => {
    const page = await openPage();
    await page.route('**/api/v1/auth/methods', (route) =>
      route.fulfill({ json: { password: false, password_reset: false, sso: { name: NAME } } }),
    );
    await page.goto(`${stage.service.url}/desk`);
    await providerButton(page).waitFor();
    assert.equal(await page.locator('input').count(), 0);
    await checkPage(page, 'desk-sign-in-sso-alone');
    await page.goto(`${stage.service.url}/desk/forgotten`);
    await heading(page, 'Sign in').waitFor();
    assert.equal(await page.locator('input').count(), 0);
    await page.goto(await invite('only@example.com'));
    await providerButton(page).waitFor();
    assert.equal(await page.locator('input').count(), 0);
  });
});
