/**
 * `npm run demo`: the service with a waitlist of invented people, to look at. Its data is in a temporary directory,
 * which is removed when it stops, and it listens on this machine only. PORT chooses the port. The pictures of the
 * documentation show the same people.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const OWNER = 'owner@example.com';
const PASSWORD_BYTES = 18;
const POLL_MS = 50;
const PEOPLE = 1_860;
const DAYS = 30;
const DAY_MS = 86_400_000;
const LET_IN = 60;
const REFERRED_SHARE = 0.34;
const ANSWERED_SHARE = 0.8;
const FIRST_NAMES = [
  ...['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Ken', 'Radia', 'Tim', 'Katherine'],
  ...['Chioma', 'Mateo', 'Yuki'],
];
const LAST_NAMES = ['Moreno', 'Okafor', 'Lindqvist', 'Haddad', 'Tanaka', 'Novak', 'Silva', 'Weber', 'Rossi', 'Kim'];
/** Numbers in the order of joining. They refer a third of the others, and earlier ones refer more. */
const REFERRERS = [64, 71, 90, 118, 150, 203, 260, 330];
/** Every n-th referral is withheld, for the next of `REASONS`. */
const WITHHELD_EACH = 20;
const REASONS = ['same_mailbox', 'network_rate', 'disposable_domain', 'too_fast'];
const QUESTION = {
  question_value: 'Where do you take notes?',
  answer_value: ['In the field', 'At a desk', 'On the road'],
};

export const SETTINGS = {
  waitlist_name: 'Fieldnotes',
  title: 'Join Fieldnotes',
  uses_firstname_lastname: true,
  uses_leaderboard: true,
  leaderboard_length: 3,
  widget_shows_social_links: true,
  required_contact: { phone: 'off', last_name: 'off' },
  questions: [{ ...QUESTION, optional: true }],
  configuration_style_json: { widget_button_color: '#1f6f50', widget_button_font_color: '#ffffff' },
  texts: { introduction: 'A notebook for people who work outdoors. We let in a few each week.' },
};

const tokenOf = (number) => `DEM0${String(number).padStart(8, '0')}`;
/** The token of a person who refers others. */
export const REFERRAL_TOKEN = tokenOf(REFERRERS[2]);

/** The lines of a CSV file for the import: the same people in each run, who joined in the 30 days before today. */
export function inventPeople() {
  const random = randomNumbers(7);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const timeAgo = (days) => new Date(today - Math.ceil(days * DAY_MS)).toISOString();
  const daysAgo = Array.from({ length: PEOPLE }, () => DAYS * random() ** 1.5).sort((a, b) => b - a);
  let referrals = 0;
  const lines = daysAgo.map((days, number) => {
    const [first, last] = [pick(FIRST_NAMES), pick(LAST_NAMES)];
    const referrer = random() < REFERRED_SHARE ? REFERRERS[Math.floor(random() ** 2 * REFERRERS.length)] : PEOPLE;
    const isReferral = referrer < number;
    if (isReferral) referrals += 1;
    const reason =
      isReferral && referrals % WITHHELD_EACH === 0 ? REASONS[(referrals / WITHHELD_EACH) % REASONS.length] : '';
    const domain = reason === 'disposable_domain' ? 'mailinator.com' : 'example.com';
    const answer = random() < ANSWERED_SHARE ? pick(QUESTION.answer_value) : '';
    return [
      ...[`${first}.${last}${number}@${domain}`.toLowerCase(), first, last, timeAgo(days)],
      ...[tokenOf(number), isReferral ? tokenOf(referrer) : ''],
      ...[reason ? 'withheld' : '', reason],
      ...(number < LET_IN ? [timeAgo((DAYS * (LET_IN - number)) / LET_IN / 4), 0] : ['', '']),
      ...[QUESTION.question_value, answer],
    ].join(',');
  });
  const columns =
    'email,first_name,last_name,created_at,referral_token,referred_by,credit,credit_reasons,removed_date,removed_priority,question_1,answer_1';
  return [columns, ...lines];
}

/** A generator of numbers from 0 (included) to 1 (excluded), the same for the same seed. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

async function call(url, { token, type = 'application/json', body, method = 'POST' }) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { method, body, headers: { 'content-type': type, ...authorization } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** Returns the id of the waitlist. */
async function fill(base, password) {
  const login = JSON.stringify({ email: OWNER, password });
  const { access_token: token } = await call(`${base}/api/v1/auth/create_tokens`, { body: login });
  const waitlist = `${base}/api/v1/waitlist`;
  const { id } = await call(waitlist, { token, body: JSON.stringify(SETTINGS) });
  const body = inventPeople().join('\n');
  const report = await call(`${waitlist}/${id}/import`, { token, type: 'text/csv', body });
  if (report.imported !== PEOPLE) throw new Error(`Not all were imported: ${JSON.stringify(report).slice(0, 500)}`);
  return id;
}

async function isListening(base) {
  return fetch(`${base}/livez`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'waitlist-demo-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  Object.assign(process.env, {
    DATABASE_URL: `sqlite:${join(folder, 'waitlist.sqlite')}`,
    HOST: '127.0.0.1',
    OWNER_PASSWORD: password,
  });
  // Before the service starts: without an owner, it would create an empty waitlist and print its credentials.
  const cli = fileURLToPath(new URL('../dist/src/cli.js', import.meta.url));
  await promisify(execFile)(process.execPath, [cli, 'owner', 'create', OWNER]);
  // The service stops on a signal, and ends this process if it cannot start.
  await import('../dist/src/main.js');
  const base = `http://127.0.0.1:${process.env.PORT || 3000}`;
  while (!(await isListening(base))) await setTimeout(POLL_MS);
  const id = await fill(base, password);
  const shown = process.env.PUBLIC_BASE_URL || base.replace('127.0.0.1', 'localhost');
  console.log(`
${PEOPLE} invented people have joined "${SETTINGS.waitlist_name}". Look at them:

  the desk            ${shown}/desk/${id}/overview
    email             ${OWNER}
    password          ${password}
  the page to join    ${shown}/waitlist/${id}
  by a friend's link  ${shown}/waitlist/${id}?ref_id=${REFERRAL_TOKEN}

Some referrals wait for your approval: People, "Withheld". Ctrl-C stops the demo and removes its data.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
