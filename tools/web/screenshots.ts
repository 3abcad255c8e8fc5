/** `npm run screenshots`: takes the pictures of the README, of an invented waitlist, into docs/images. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from '../contract/service.js';
import { call, Stage } from './harness.js';

const IMAGES = join(ROOT, 'docs/images');
/** As high as the card after joining. */
const PHONE = { width: 390, height: 704 };
const PEOPLE = 1_860;
const DAYS = 30;
const DAY_MS = 86_400_000;
const LET_IN = 60;
const PAGE_VIEWS = 4_700;
const PAGE_VIEWS_AT_ONCE = 100;
const FIRST_NAMES = [
  'Ada',
  'Grace',
  'Alan',
  'Edsger',
  'Barbara',
  'Donald',
  'Frances',
  'Ken',
  'Radia',
  'Tim',
  'Katherine',
];
const LAST_NAMES = ['Moreno', 'Okafor', 'Lindqvist', 'Haddad', 'Tanaka', 'Novak', 'Silva', 'Weber', 'Rossi', 'Kim'];
/** They refer a third of the others, the first of them most. */
const REFERRERS = [64, 71, 90, 118, 150, 203, 260, 330];

/** The same people in each run, by days that end today. */
function people(): string[] {
  const random = randomNumbers(7);
  const token = (number: number) => `DEM0${String(number).padStart(8, '0')}`;
  const times = Array.from({ length: PEOPLE }, () => DAYS * random() ** 1.5).sort((a, b) => b - a);
  return times.map((daysAgo, number) => {
    const [first, last] = [FIRST_NAMES, LAST_NAMES].map((names) => names[Math.floor(random() * names.length)] ?? '');
    const referrer = random() < 0.34 ? (REFERRERS[Math.floor(random() ** 2 * REFERRERS.length)] ?? 0) : 0;
    return [
      `${first}.${last}${number}@example.com`.toLowerCase(),
      first,
      last,
      new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
      REFERRERS.includes(number) ? token(number) : '',
      referrer > 0 && referrer < number ? token(referrer) : '',
    ].join(',');
  });
}

/** Numbers from 0 to 1, excluded. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const stage = await Stage.open();
try {
  const { service } = stage;
  await stage.configure(1, {
    waitlist_name: 'Fieldnotes',
    title: 'Join Fieldnotes',
    waitlist_url_location: 'https://fieldnotes.example/join',
    uses_firstname_lastname: true,
    uses_leaderboard: true,
    leaderboard_length: 3,
    required_contact: { phone: 'off', last_name: 'off' },
    // This types faster than people do.
    fraud: { minimum_seconds: null },
    texts: { introduction: 'A notebook for people who work outdoors. We let in a few each week.' },
  });
  const columns = 'email,first_name,last_name,created_at,referral_token,referred_by';
  const lines = people();
  await stage.importCsv(1, [columns, ...lines.slice(0, LET_IN)]);
  await stage.letIn(1, LET_IN);
  await stage.importCsv(1, [columns, ...lines.slice(LET_IN)]);
  const view = { waitlist_id: 1, location: 'https://fieldnotes.example/join', referrer: '' };
  const send = () => call(service, 'POST', '/api/v1/widget_heartbeats', { body: view });
  for (let sent = 0; sent < PAGE_VIEWS; sent += PAGE_VIEWS_AT_ONCE)
    await Promise.all(Array.from({ length: PAGE_VIEWS_AT_ONCE }, send));

  const phone = await stage.openPage({ width: 390 });
  await phone.setViewportSize(PHONE);
  await phone.goto(`${service.url}/waitlist/1?ref_id=DEM000000090`);
  await take(phone, 'page');
  await phone.getByLabel('First name').fill('Mae');
  await phone.getByLabel('Email').fill('mae@example.com');
  await phone.getByRole('button', { name: 'Join the waitlist' }).click();
  await phone.getByText('Your link to share').waitFor();
  await take(phone, 'page-joined');

  const desk = await stage.openPage();
  await stage.signIn(desk, '/desk/1/overview');
  await take(desk, 'desk-overview');
  await desk.goto(`${service.url}/desk/1/people`);
  await desk.getByRole('row').nth(5).waitFor();
  await take(desk, 'desk-people');
} finally {
  await stage.close();
}

async function take(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
}
