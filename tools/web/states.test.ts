/**
 * Each page of the desk while it loads, where there is nothing, where the service refuses, and with its dialogs open.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { until } from '../../test/support/service-process.js';
import { call, checkPage, logIn, Stage } from './harness.js';

/** What the service answers in a state: nothing, or a problem as it would send it, or data. */
type Answer = 'nothing' | { readonly status: number; readonly body: object };

interface State {
  readonly name: string;
  /** Below `/desk`. */
  readonly path: () => string;
  /** By method and path below `/api/v1`. All other requests reach the service. */
  readonly answers?: () => Record<string, Answer>;
  readonly act?: (page: Page) => Promise<unknown>;
  /** A text of the state; `null` where something loads. */
  readonly shows: string | RegExp | null;
}

const refusal = (status: number, error_code: string, detail: string, fields: object = {}): Answer => ({
  status,
  body: { type: '/docs/errors', title: 'Refused', status, detail, error_code, ...fields },
});
const LIMITED = refusal(429, 'RATE_LIMITED', 'Too many requests from this address.');
const OVERLOADED = refusal(503, 'OVERLOADED', 'The service is overloaded; try again.');
const LIMITED_TEXT = 'Too many requests from this address.';
const OVERLOADED_TEXT = 'The service is overloaded; try again.';

/** Its secret was stored under a JWT_SECRET that is gone. */
const WEBHOOK = {
  id: 1,
  url: `https://example.com/${'long'.repeat(30)}`,
  events: ['new_signup'],
  is_active: false,
  secret_available: false,
  created_at: '2026-11-22_10-00-00',
};

const TIMEOUT_MS = 10_000;

let stage: Stage;
let page: Page;
let answers: Record<string, Answer> = {};
/** The requests without an answer that have been sent: until then, what loads is another part of the page. */
const waiting = new Map<string, Route>();
/** Of a waitlist that nobody has joined, which is closed and private. */
let emptyId: number;
/** Of a person in the middle of the line, who was referred. */
let uuid: string;

before(async () => {
  stage = await Stage.open();
  await stage.importPeople(120);
  emptyId = await stage.waitlist({ waitlist_name: 'Nobody', is_closed: true, is_public: false });
  uuid = String((await stage.list(1, { search: 'person-50@' }))[0]?.uuid);
  page = await stage.openPage({ expectedError: /Failed to fetch dynamically imported module/ });
  page.setDefaultTimeout(TIMEOUT_MS);
  // A picker of the system cannot be clicked.
  await page.addInitScript(() => delete (window as { showSaveFilePicker?: unknown }).showSaveFilePicker);
  await page.route('**/api/v1/**', (route, request) => {
    const [, path = ''] = new URL(request.url()).pathname.split('/api/v1/');
    const operation = `${request.method()} ${path}`;
    const answer = answers[operation];
    if (answer === undefined) return route.continue();
    if (answer === 'nothing') {
      waiting.set(operation, route);
      return undefined;
    }
    const { status, body } = answer;
    const contentType = status < 400 ? 'application/json' : 'application/problem+json';
    return route.fulfill({ status, contentType, body: JSON.stringify(body) });
  });
});
after(() => stage.close());

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const inDialog = (name: string | RegExp) => page.getByRole('dialog').last().getByRole('button', { name, exact: true });

function shows(states: readonly State[]): void {
  for (const state of states)
    test(state.name, async () => {
      answers = state.answers?.() ?? {};
      waiting.clear();
      await page.goto(`${stage.service.url}/desk${state.path()}`);
      await state.act?.(page);
      if (state.shows === null) await until(() => waiting.size > 0);
      const shown = state.shows === null ? page.getByText('Loading', { exact: true }) : page.getByText(state.shows);
      await shown.first().waitFor({ state: state.shows === null ? 'attached' : 'visible' });
      // The code of a page may still be on its way, without a heading.
      await page.locator('h1').first().waitFor({ state: 'attached' });
      await checkPage(page);
    });
}

describe('before the sign-in, hinders nobody:', () => {
  // A browser without a login asks for none.
  before(async () => {
    await page.goto(`${stage.service.url}/desk`);
    await button('Sign in').waitFor();
    await page.evaluate(() => localStorage.setItem('/desk/has-login', 'true'));
  });
  const signIn = async () => {
    await page.getByLabel(/^email/i).fill('owner@example.com');
    await page.getByLabel(/^password/i).fill('any password');
    await button('Sign in').click();
  };
  shows([
    {
      name: 'a desk that resumes its login',
      path: () => '',
      answers: () => ({ 'POST auth/session/refresh': 'nothing' }),
      shows: null,
    },
    {
      name: 'a desk whose login cannot be resumed now',
      path: () => '',
      answers: () => ({ 'POST auth/session/refresh': OVERLOADED }),
      shows: OVERLOADED_TEXT,
    },
    {
      name: 'a sign-in that is refused for a while',
      path: () => '',
      answers: () => ({ 'POST auth/session': LIMITED }),
      act: signIn,
      shows: LIMITED_TEXT,
    },
    {
      name: 'a sign-in that the service cannot answer',
      path: () => '',
      answers: () => ({ 'POST auth/session': OVERLOADED }),
      act: signIn,
      shows: OVERLOADED_TEXT,
    },
  ]);
});

describe('signed in, hinders nobody:', () => {
  before(async () => {
    answers = {};
    await stage.signIn(page);
  });

  test('a page that waits for one answer after another, without blinking', async () => {
    await page.goto('about:blank');
    waiting.clear();
    answers = { 'GET member/me': 'nothing', 'GET waitlist/1': 'nothing' };
    await page.goto(`${stage.service.url}/desk/1/overview`);
    await page.getByRole('heading', { name: 'Loading' }).waitFor();
    await until(() => waiting.size === 2);
    await page.evaluate(() => {
      document.querySelector('h1')?.setAttribute('data-first', '');
      new MutationObserver(() => {
        if (!document.querySelector('h1')) document.body.dataset.blinked = '';
      }).observe(document.body, { childList: true, subtree: true });
    });
    await waiting.get('GET member/me')?.continue();
    await page.locator('h1:not([data-first])').waitFor();
    await waiting.get('GET waitlist/1')?.continue();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await page.evaluate(() => document.body.dataset.blinked), undefined);
  });

  describe('the frame', () => {
    shows([
      {
        name: 'a waitlist on its way',
        path: () => '/1/overview',
        answers: () => ({ 'GET waitlist/1': 'nothing' }),
        shows: null,
      },
      {
        name: 'a waitlist that is refused',
        path: () => '/1/overview',
        answers: () => ({ 'GET waitlist/1': LIMITED }),
        shows: LIMITED_TEXT,
      },
      {
        name: 'an account without a waitlist',
        path: () => '',
        answers: () => ({ 'GET waitlist': { status: 200, body: [] } }),
        shows: 'No waitlist yet',
      },
      {
        name: 'an account whose waitlists are refused',
        path: () => '',
        answers: () => ({ 'GET waitlist': LIMITED }),
        shows: LIMITED_TEXT,
      },
      {
        name: 'a name that a new waitlist cannot have',
        path: () => '/1/overview',
        act: async () => {
          await button('My waitlist').first().click();
          await page.getByRole('menuitem', { name: 'New waitlist' }).click();
          await page.getByLabel(/^name/i).fill('n'.repeat(201));
          await button('Create waitlist').click();
        },
        shows: /200 characters/,
      },
      {
        name: 'a page whose files are gone, as after an upgrade',
        path: () => '/1/overview',
        act: async () => {
          const files = '**/assets/transfer.page-*.js';
          await page.route(files, (route) => route.abort());
          await page.goto(`${stage.service.url}/desk/1/transfer`);
          await page.getByText('Your data is safe.').waitFor();
          await page.unroute(files);
        },
        shows: 'Your data is safe.',
      },
      {
        name: 'the choice of a waitlist',
        path: () => '/1/overview',
        act: async () => {
          await page.getByRole('heading', { name: 'Overview' }).waitFor();
          await button('My waitlist').first().click();
        },
        shows: 'New waitlist',
      },
      {
        name: 'the choice of colors',
        path: () => '/1/overview',
        act: async () => {
          await page.getByRole('heading', { name: 'Overview' }).waitFor();
          await button('Colors: System').first().click();
        },
        shows: 'Dark',
      },
    ]);
  });

  describe('the overview', () => {
    shows([
      {
        name: 'figures on their way',
        path: () => '/1/overview',
        answers: () => ({ 'GET waitlist/1/statistics': 'nothing' }),
        shows: null,
      },
      {
        name: 'figures that the service cannot give',
        path: () => '/1/overview',
        answers: () => ({ 'GET waitlist/1/statistics': OVERLOADED }),
        shows: OVERLOADED_TEXT,
      },
    ]);
  });

  describe('people', () => {
    const openPerson = () => `/1/people/${uuid}`;
    shows([
      {
        name: 'people on their way',
        path: () => '/1/people',
        answers: () => ({ 'GET waiter': 'nothing' }),
        shows: null,
      },
      {
        name: 'people that are refused',
        path: () => '/1/people',
        answers: () => ({ 'GET waiter': LIMITED }),
        shows: LIMITED_TEXT,
      },
      {
        name: 'more people that are refused',
        path: () => '/1/people',
        act: async () => {
          await page.getByRole('row').nth(1).waitFor();
          answers['GET waiter'] = LIMITED;
          await page.getByRole('row').nth(1).focus();
          await page.keyboard.press('End');
        },
        shows: LIMITED_TEXT,
      },
      { name: 'nobody in line', path: () => `/${emptyId}/people`, shows: 'Nobody is in line yet.' },
      { name: 'nobody pending', path: () => '/1/people?status=pending', shows: 'Nobody is unconfirmed.' },
      { name: 'no withheld referral', path: () => '/1/people?credit=withheld', shows: 'No referral waits for you.' },
      {
        name: 'nobody let in',
        path: () => '/1/people?status=offboarded',
        shows: 'Nobody has been let in yet.',
      },
      {
        name: 'next people that are refused',
        path: () => '/1/people',
        answers: () => ({ 'PATCH waiter': OVERLOADED }),
        act: async () => {
          await button('Let next people in').click();
          await page.getByLabel('How many').fill('10');
          await inDialog('Let 10 people in').click();
        },
        shows: 'It is safe to try again',
      },
      {
        name: 'a person on their way',
        path: openPerson,
        answers: () => ({ [`GET signup/${uuid}`]: 'nothing' }),
        // It has its name a moment after it opens.
        act: () => page.getByRole('dialog', { name: 'Person' }).waitFor(),
        shows: null,
      },
      {
        name: 'a person who is refused',
        path: openPerson,
        answers: () => ({ [`GET signup/${uuid}`]: LIMITED }),
        shows: LIMITED_TEXT,
      },
      {
        name: 'a person who is not found',
        path: () => `/1/people/${randomUUID()}`,
        shows: 'The person may have been erased.',
      },
      {
        name: 'a person whose history and referrals are refused',
        path: openPerson,
        answers: () => ({ 'GET audit': LIMITED, 'GET waiter': LIMITED }),
        act: () => page.getByRole('dialog').getByText(LIMITED_TEXT).nth(1).waitFor(),
        shows: LIMITED_TEXT,
      },
      ...(
        [
          ['Let in', 'Let 1 person in', 'PATCH waiter'],
          ['Offer a seat', 'Offer 1 person a seat', 'POST waitlist/1/offer'],
          ['Move', 'Move 10 forward', `PATCH signup/`],
          ['Erase', 'Erase this person', 'DELETE signup'],
        ] as const
      ).map(([open, act, operation]): State => ({
        name: `${open}, refused`,
        path: openPerson,
        answers: () => ({ [operation.endsWith('/') ? `${operation}${uuid}` : operation]: LIMITED }),
        act: async () => {
          await inDialog(open).click();
          if (open === 'Erase') await page.getByLabel(/to confirm/).fill('person-50@example.com');
          await inDialog(act).click();
        },
        shows: LIMITED_TEXT,
      })),
    ]);
  });

  describe('import and export', () => {
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from('email\nada@example.com\n') };
    const check = async () => {
      await page.locator('input[type=file]').setInputFiles(file);
      await button('Check the file').click();
    };
    const latest = (state: string): Answer => ({
      status: 200,
      body: { state, started_at: '2026-11-22_10-00-00', ended_at: null, report: null },
    });
    shows([
      {
        name: 'a check under way',
        path: () => '/1/transfer',
        answers: () => ({ 'POST waitlist/1/import': 'nothing' }),
        act: check,
        shows: 'Uploading the file',
      },
      {
        name: 'an import that is refused',
        path: () => '/1/transfer',
        act: async () => {
          await check();
          await button('Import 1 person').waitFor();
          answers['POST waitlist/1/import'] = OVERLOADED;
          await button('Import 1 person').click();
        },
        shows: OVERLOADED_TEXT,
      },
      {
        name: 'an import of an earlier visit',
        path: () => '/1/transfer',
        answers: () => ({ 'GET waitlist/1/import': latest('running') }),
        shows: 'An import is running.',
      },
      {
        name: 'an import that was interrupted',
        path: () => '/1/transfer',
        answers: () => ({ 'GET waitlist/1/import': latest('failed') }),
        shows: 'The latest import was interrupted',
      },
      {
        name: 'a latest import that is refused',
        path: () => '/1/transfer',
        answers: () => ({ 'GET waitlist/1/import': LIMITED }),
        shows: LIMITED_TEXT,
      },
      {
        name: 'an export under way',
        path: () => '/1/transfer',
        answers: () => ({ 'GET waitlist/1/export': 'nothing' }),
        act: () => button('Export 120 people').click(),
        shows: 'Exporting:',
      },
      {
        name: 'an export that is refused',
        path: () => '/1/transfer',
        answers: () => ({ 'GET waitlist/1/export': LIMITED }),
        act: () => button('Export 120 people').click(),
        shows: LIMITED_TEXT,
      },
    ]);
  });

  describe('settings', () => {
    const save = async (label: string, text: string) => {
      await page.getByLabel(label).first().fill(text);
      await button('Save').click();
    };
    const patch = (answer: Answer) => () => ({ 'PATCH waitlist/1': answer });
    shows([
      {
        name: 'a save that is refused',
        path: () => '/1/settings/form',
        answers: patch(LIMITED),
        act: () => save('Name', 'Another'),
        shows: LIMITED_TEXT,
      },
      {
        name: 'the choice of a country',
        path: () => '/1/settings/form',
        act: async () => {
          await page.getByRole('radiogroup', { name: 'Phone', exact: true }).getByText('Optional').click();
          await page.getByRole('combobox', { name: 'Country of phone numbers' }).click();
        },
        shows: 'Albania',
      },
      {
        name: 'a count of moves that is refused',
        path: () => '/1/settings/referrals',
        answers: () => ({ 'GET waitlist/1/reorder': LIMITED }),
        act: () => page.getByLabel('Places for each friend who joins').fill('5'),
        shows: LIMITED_TEXT,
      },
      {
        name: 'a number that is too large',
        path: () => '/1/settings/referrals',
        act: () => save('Places for each friend who joins', '10001'),
        shows: /10,?000/,
      },
      {
        name: 'the texts of problems, and an origin that is none',
        path: () => '/1/settings/appearance',
        act: async () => {
          await button('Other texts: problems').click();
          await save('Sites that may show the page in a frame', 'ftp://example.com');
        },
        shows: /Not saved yet/,
      },
      {
        name: 'a new API key that is refused',
        path: () => '/1/settings/keys',
        answers: () => ({ 'POST waitlist/1/api_key': LIMITED }),
        act: async () => {
          await button('Make a new API key').click();
          await inDialog('Make a new API key').click();
        },
        shows: LIMITED_TEXT,
      },
      {
        name: 'webhooks on their way',
        path: () => '/1/settings/webhooks',
        answers: () => ({ 'GET waitlist/1/webhook': 'nothing' }),
        shows: null,
      },
      {
        name: 'webhooks that are refused',
        path: () => '/1/settings/webhooks',
        answers: () => ({ 'GET waitlist/1/webhook': LIMITED }),
        shows: LIMITED_TEXT,
      },
      {
        name: 'a webhook whose secret cannot be read, which cannot be turned on now',
        path: () => '/1/settings/webhooks',
        answers: () => ({
          'GET waitlist/1/webhook': { status: 200, body: [WEBHOOK] },
          'PATCH waitlist/1/webhook/1': LIMITED,
        }),
        act: async () => {
          await page.getByText('The secret cannot be read').waitFor();
          await page.getByRole('switch').press('Space');
        },
        shows: LIMITED_TEXT,
      },
      {
        name: 'deliveries on their way',
        path: () => '/1/settings/webhooks',
        answers: () => ({
          'GET waitlist/1/webhook': { status: 200, body: [WEBHOOK] },
          'GET waitlist/1/webhook/1/delivery': 'nothing',
        }),
        act: () => button('Show deliveries').click(),
        shows: null,
      },
      {
        name: 'deliveries that are refused',
        path: () => '/1/settings/webhooks',
        answers: () => ({
          'GET waitlist/1/webhook': { status: 200, body: [WEBHOOK] },
          'GET waitlist/1/webhook/1/delivery': LIMITED,
        }),
        act: () => button('Show deliveries').click(),
        shows: LIMITED_TEXT,
      },
      {
        name: 'a closed and private waitlist that cannot be opened now',
        path: () => `/${emptyId}/settings/form`,
        answers: () => ({ [`PATCH waitlist/${emptyId}`]: LIMITED }),
        act: () => button('Open it again').click(),
        shows: LIMITED_TEXT,
      },
      {
        name: 'a deletion that is refused',
        path: () => '/1/settings/danger',
        answers: () => ({ 'DELETE waitlist/1': OVERLOADED }),
        act: async () => {
          await button('Delete the waitlist').click();
          await page.getByLabel('Type My waitlist to confirm').fill('My waitlist');
          await inDialog('Delete the waitlist').click();
        },
        shows: OVERLOADED_TEXT,
      },
    ]);
  });

  describe('the team', () => {
    const all = (answer: Answer) => () => ({ 'GET member': answer, 'GET account': answer });
    shows([
      { name: 'a team on its way', path: () => '/team', answers: all('nothing'), shows: null },
      { name: 'a team that is refused', path: () => '/team', answers: all(LIMITED), shows: LIMITED_TEXT },
      {
        name: 'an invitation that is refused',
        path: () => '/team',
        answers: () => ({ 'POST member': refusal(409, 'EMAIL_TAKEN', 'A member of this service has this email.') }),
        act: async () => {
          await button('Invite a member').click();
          await page.getByLabel(/^email/i).fill('taken@example.com');
          await inDialog('Invite').click();
        },
        shows: 'Somebody with this email already has a login at this service.',
      },
      {
        name: 'a last owner who would be a viewer',
        path: () => '/team',
        act: async () => {
          await button(`Manage ${stage.service.email}`).click();
          await page.getByRole('radio', { name: 'Viewer' }).check();
          await inDialog('Save').click();
        },
        shows: /^The account needs an active owner who can sign in\./,
      },
      {
        name: 'a removal that is refused',
        path: () => '/team',
        act: async () => {
          await button(`Manage ${stage.service.email}`).click();
          await inDialog('Remove').click();
          await inDialog('Remove').click();
        },
        shows: /^The account needs an active owner who can sign in\./,
      },
    ]);
  });

  describe('the profile', () => {
    const all = (answer: Answer) => () => ({ 'GET auth/session': answer, 'GET account': answer });
    shows([
      { name: 'a profile on its way', path: () => '/profile', answers: all('nothing'), shows: null },
      { name: 'a profile that is refused', path: () => '/profile', answers: all(LIMITED), shows: LIMITED_TEXT },
      {
        name: 'an identity that was not linked',
        path: () => '/profile?error=SSO_REFUSED',
        shows: /^Nothing was linked/,
      },
      {
        name: 'a member who is not known yet',
        path: () => '/1/overview',
        answers: () => ({ 'GET member/me': OVERLOADED }),
        shows: OVERLOADED_TEXT,
      },
    ]);
  });

  describe('the account', () => {
    const all = (answer: Answer) => () => ({ 'GET account': answer, 'GET api_key': answer, 'GET audit': answer });
    shows([
      { name: 'an account on its way', path: () => '/account', answers: all('nothing'), shows: null },
      { name: 'an account that is refused', path: () => '/account', answers: all(LIMITED), shows: LIMITED_TEXT },
      {
        name: 'an audit log without events',
        path: () => `/account?uuid=${randomUUID()}`,
        shows: 'No matching events.',
      },
      {
        name: 'a key that is refused',
        path: () => '/account',
        answers: () => ({
          'POST api_key': refusal(409, 'TOO_MANY_ACCOUNT_KEYS', 'This account cannot have more account keys.'),
        }),
        act: async () => {
          await button('Create key').click();
          await page.getByLabel(/^name/i).fill('Report');
          await inDialog('Create key').click();
        },
        shows: 'This account cannot have more account keys.',
      },
      {
        name: 'a login that cannot be ended now',
        path: () => '/profile',
        act: async () => {
          await button(/^End the login of/)
            .first()
            .click();
          const token = await logIn(stage.service);
          const sessions = (await call(stage.service, 'GET', '/api/v1/auth/session', { token })) as { id: string }[];
          for (const { id } of sessions) answers[`DELETE auth/session/${id}`] = LIMITED;
          await inDialog('End login').click();
        },
        shows: LIMITED_TEXT,
      },
      {
        name: 'a sign-out that is refused',
        path: () => '/profile',
        answers: () => ({ 'DELETE auth/session': OVERLOADED }),
        act: () => button('Sign out').click(),
        shows: OVERLOADED_TEXT,
      },
    ]);
  });
});
