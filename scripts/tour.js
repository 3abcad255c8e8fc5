/**
 * Runs the blocks of docs/tour.md in bash, as a reader pastes them, against a running service: `npm run tour --
 * http://localhost:3000`, with OWNER_EMAIL and OWNER_PASSWORD. It checks the fields and types of each answer of the six
 * operations against the specification (sections 2.1 to 2.4), and those of offers, places and members. The tour deletes
 * its waitlist at the end. It exits with 1 if anything differs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const string = { name: 'a string', fits: (value) => typeof value === 'string' };
const boolean = { name: 'a boolean', fits: (value) => typeof value === 'boolean' };
const integer = { name: 'an integer', fits: Number.isInteger };
const object = { name: 'an object', fits: (value) => typeof value === 'object' && !Array.isArray(value) && !!value };
const url = { name: 'a URL', fits: (value) => string.fits(value) && URL.canParse(value) };
const uuid = { name: 'a UUID', fits: (value) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(value) };
const time = { name: 'YYYY-MM-DD_HH-MM-SS', fits: (value) => /^\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d$/.test(value) };
const absent = { name: 'absent', fits: (value) => value === undefined };
const exactly = (wanted) => ({ name: JSON.stringify(wanted), fits: (value) => value === wanted });
const orNull = (type) => ({ name: `${type.name} or null`, fits: (value) => value === null || type.fits(value) });
const listOf = (shape, count) => ({
  name: `a list of ${count} items that fit`,
  fits: (value) => Array.isArray(value) && value.length === count && value.every((item) => !faultsOf(item, shape)[0]),
});

const TOKEN_PAIR = { access_token: string, refresh_token: string };
const ANSWER_ITEM = {
  question_value: string,
  optional: boolean,
  answer_value: {
    name: 'null, a string or a list of strings',
    fits: (value) => value === null || [value].flat().every(string.fits),
  },
};
const SIGNUP = {
  amount_referred: integer,
  answers: listOf(ANSWER_ITEM, 3),
  created_at: time,
  email: string,
  phone: string,
  priority: integer,
  referral_link: url,
  referral_token: string,
  referred_by_signup_token: orNull(string),
  removed_date: orNull(time),
  removed_priority: orNull(integer),
  uuid,
  verified: boolean,
  waitlist_id: integer,
};
/** The fields of a listing and of an offboarding together: both answer with whole records. */
const WAITER = {
  amount_referred: integer,
  created_at: time,
  email: string,
  first_name: string,
  id: integer,
  last_name: string,
  metadata: orNull(object),
  phone: orNull(string),
  priority: integer,
  referral_bool: boolean,
  referral_link: url,
  referral_token: string,
  referred_by_waiter_token: orNull(string),
  registered_email: string,
  removed_date: orNull(time),
  removed_from_waitlist: boolean,
  removed_priority: orNull(integer),
  status: string,
  total_referrals: integer,
  total_waiters_currently: integer,
  user_id: string,
  uuid,
  verified: boolean,
  waitlist_api_key: string,
  waitlist_id: integer,
};
const MEMBER = {
  id: uuid,
  email: string,
  name: orNull(string),
  role: string,
  status: string,
  two_factor: boolean,
  sign_in: { name: 'a list of strings', fits: (value) => Array.isArray(value) && value.every(string.fits) },
  created_at: time,
  last_login_at: orNull(time),
};
/** Of a record without names, in a request by id. */
const UNNAMED = { first_name: orNull(string), last_name: orNull(string), waitlist_api_key: exactly(null) };
const QUESTIONS = {
  question_1: string,
  question_2: string,
  question_3: string,
  answer_1: string,
  answer_2: string,
  answer_3: string,
};

/** The checks of the answers that the tour keeps in variables; the later ones need values of the earlier ones. */
function checks(answers) {
  const { WAITLIST: waitlist, ADA: ada, OFFBOARDED: offboarded, OFFERED: offered } = answers;
  const unanswered = listOf({ ...ANSWER_ITEM, answer_value: exactly(null) }, 3);
  const found = { ...SIGNUP, phone: absent, uuid: exactly(ada?.uuid), answers: unanswered };
  const listed = {
    ...WAITER,
    ...QUESTIONS,
    removed_from_waitlist: exactly(false),
    total_waiters_currently: exactly(5),
    waitlist_api_key: exactly(waitlist?.api_key),
  };
  const left = {
    ...WAITER,
    phone: exactly(ada?.phone),
    removed_date: time,
    removed_from_waitlist: exactly(true),
    removed_priority: exactly(0),
    email: exactly('ada@example.com'),
  };
  return [
    ['Create tokens', 'TOKENS', TOKEN_PAIR],
    ['Refresh access token', 'REFRESHED', TOKEN_PAIR],
    [
      'Create a Signup',
      'ADA',
      { ...SIGNUP, priority: exactly(3), referred_by_signup_token: exactly(null), removed_date: exactly(null) },
    ],
    ['Get a Signup by its email', 'BY_EMAIL', found],
    ['Get a Signup by its phone', 'BY_PHONE', { ...found, email: absent, phone: string }],
    [
      'Create a Signup by a referral link',
      'BOB',
      { ...SIGNUP, phone: absent, referred_by_signup_token: exactly(ada?.referral_token) },
    ],
    ['Get a Signup: the referrer moved up', 'MOVED', { ...found, priority: exactly(0), amount_referred: exactly(1) }],
    ['Get Waiter', 'WAITERS', listed],
    [
      'Get Waiter: the next page',
      'NEXT_PAGE',
      { ...WAITER, email: exactly('bob@example.com'), waitlist_api_key: exactly(null) },
    ],
    ['Offboard Waiter', 'OFFBOARDED', left],
    [
      'Offboard Waiter: the repeat',
      'REPEATED',
      { ...left, uuid: exactly(ada?.uuid), removed_date: exactly(offboarded?.[0]?.removed_date) },
    ],
    [
      'Get Waiter: the offboarded',
      'GONE',
      { ...WAITER, ...QUESTIONS, uuid: exactly(ada?.uuid), removed_date: exactly(offboarded?.[0]?.removed_date) },
    ],
    [
      'Offer a seat',
      'OFFERED',
      {
        ...WAITER,
        ...UNNAMED,
        status: exactly('offered'),
        priority: exactly(0),
        removed_from_waitlist: exactly(false),
        removed_priority: exactly(null),
        removed_reason: exactly(null),
        offer_expires_at: orNull(string),
        offer_url: url,
      },
    ],
    ['Check an offer', 'CHECKED', { state: exactly('open'), accepted_at: exactly(null), signup: object }],
    ['Accept an offer', 'ACCEPTED', { state: exactly('accepted'), accepted_at: string, signup: object }],
    [
      'Return',
      'RETURNED',
      {
        ...WAITER,
        ...UNNAMED,
        uuid: exactly(offered?.[0]?.uuid),
        status: exactly('waiting'),
        priority: exactly(0),
        removed_date: exactly(null),
      },
    ],
    [
      'Explain a place',
      'PLACE',
      {
        status: exactly('waiting'),
        priority: exactly(3),
        joined_priority: exactly(4),
        referrals: object,
        others: exactly(1),
        next_referral_priority: exactly(1),
        estimate: exactly(null),
        offer_expires_at: exactly(null),
      },
    ],
    [
      'Get Waiter: withheld credit',
      'WITHHELD',
      { ...WAITER, ...UNNAMED, email: exactly('eve@mailinator.com'), credit: exactly('withheld') },
    ],
    ['Correct a Signup: approve the credit', 'APPROVED', { ...WAITER, ...UNNAMED, credit: exactly('credited') }],
    ['List the members', 'MEMBERS', MEMBER],
  ];
}

function faultsOf(value, shape) {
  return Object.entries(shape)
    .filter(([field, type]) => !type.fits(value?.[field]))
    .map(([field, type]) => `${field} should be ${type.name}, but is ${JSON.stringify(value?.[field])}`);
}

const page = readFileSync(new URL('../docs/tour.md', import.meta.url), 'utf8');
const blocks = Array.from(page.matchAll(/^```sh\n(.*?)^```$/gms), ([, block]) => block).join('\n');
/** The variables of the tour that hold an answer. */
const ANSWERS = ['WAITLIST', ...checks({}).map(([, variable]) => variable)];

/** The tour stops at the first failure, and leaves no waitlist behind. */
const script = (base, email) => `set -e -o pipefail
curl() { command curl --fail-with-body "$@"; }
delete_waitlist() {
  [ -z "$WAITLIST_ID" ] || command curl -s -o /dev/null -X DELETE "$BASE/api/v1/waitlist/$WAITLIST_ID" -H "Authorization: Bearer $ACCESS_TOKEN"
}
trap 'printf "%s\\0" ${ANSWERS.map((name) => `"$${name}"`).join(' ')} >&3; delete_waitlist' EXIT
${blocks.replace('http://localhost:3000', base).replace('owner@example.com', email)}`;

/** Resolves to the answers by variable. @throws Error with what the shell and curl wrote */
async function run(base, email, password) {
  const shell = spawn('bash', ['-c', script(base, email)], { stdio: ['pipe', 'ignore', 'pipe', 'pipe'] });
  const exit = once(shell, 'exit');
  shell.stdin.end(`${password}\n`);
  const [kept, errors, [code]] = await Promise.all([text(shell.stdio[3]), text(shell.stderr), exit]);
  const values = kept.split('\0');
  const last = ANSWERS.map((_, index) => values[index]).findLast((value) => value !== '');
  if (code !== 0) throw new Error(`The tour stopped with ${code}.\n${errors}${last ?? ''}`);
  return Object.fromEntries(ANSWERS.map((name, index) => [name, JSON.parse(values[index])]));
}

const [base = 'http://localhost:3000'] = process.argv.slice(2);
const { OWNER_EMAIL: ownerEmail, OWNER_PASSWORD: ownerPassword } = process.env;
if (!ownerEmail || !ownerPassword) {
  console.error('Set OWNER_EMAIL and OWNER_PASSWORD to those of the service; the first start prints them.');
  process.exit(1);
}
let faults = 0;
try {
  const answers = await run(base, ownerEmail, ownerPassword);
  for (const [title, variable, shape] of checks(answers)) {
    const items = [answers[variable]].flat();
    const found = items.length === 0 ? ['the list is empty'] : items.flatMap((item) => faultsOf(item, shape));
    faults += found.length;
    console.log(`${found.length === 0 ? 'ok    ' : 'FAULT '} ${title}: ${Object.keys(shape).length} fields`);
    for (const fault of found) console.log(`         ${fault}`);
  }
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
console.log(faults === 0 ? 'Every answer is as specified.' : `${faults} faults.`);
process.exitCode = faults === 0 ? 0 : 1;
