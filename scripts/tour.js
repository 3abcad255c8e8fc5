/**
 * The tour of the README against a running service: `npm run tour -- http://localhost:3000`, with OWNER_EMAIL and
 * OWNER_PASSWORD. It checks the fields and types of each answer of the six operations against the specification (sections
 * 2.1 to 2.4), on a waitlist of its own that it deletes at the end. It exits with 1 if anything differs.
 */
import { randomUUID } from 'node:crypto';

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
const LISTED_WAITER = {
  amount_referred: integer,
  created_at: time,
  email: string,
  id: integer,
  priority: integer,
  referral_link: url,
  referral_token: string,
  referred_by_waiter_token: orNull(string),
  removed_date: orNull(time),
  removed_priority: orNull(integer),
  total_waiters_currently: integer,
  uuid,
  verified: boolean,
  waitlist_api_key: string,
  question_1: string,
  question_2: string,
  question_3: string,
  answer_1: string,
  answer_2: string,
  answer_3: string,
};
const OFFBOARDED_WAITER = {
  amount_referred: integer,
  created_at: time,
  email: string,
  first_name: string,
  id: integer,
  last_name: string,
  metadata: orNull(object),
  phone: orNull(string),
  referral_bool: boolean,
  referral_link: url,
  referral_token: string,
  referred_by_waiter_token: orNull(string),
  registered_email: string,
  removed_date: time,
  removed_from_waitlist: boolean,
  removed_priority: integer,
  total_referrals: integer,
  user_id: string,
  uuid,
  verified: boolean,
  waitlist_api_key: string,
  waitlist_id: integer,
};

const [base = 'http://localhost:3000'] = process.argv.slice(2);
const { OWNER_EMAIL: ownerEmail, OWNER_PASSWORD: ownerPassword } = process.env;
let faults = 0;

function faultsOf(value, shape) {
  return Object.entries(shape)
    .filter(([field, type]) => !type.fits(value?.[field]))
    .map(([field, type]) => `${field} should be ${type.name}, but is ${JSON.stringify(value?.[field])}`);
}

function withQuery(path, query) {
  const address = new URL(path, base);
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address.href;
}

async function call(method, path, { body, token, wanted = 200 } = {}) {
  const response = await fetch(new URL(path, base), {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== wanted)
    throw new Error(`${method} ${path} answered ${response.status}, not ${wanted}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Prints a step and the differences of its answer from `shape`; returns the answer. */
async function step(title, method, path, options, shape) {
  const answer = await call(method, path, options);
  const found = [answer].flat().flatMap((item) => faultsOf(item, shape));
  faults += found.length;
  console.log(`${found.length === 0 ? 'ok    ' : 'FAULT '} ${title}: ${Object.keys(shape).length} fields`);
  for (const fault of found) console.log(`         ${fault}`);
  return answer;
}

async function tour() {
  const questions = [
    { question_value: 'How did you hear of us?', optional: true },
    { question_value: 'Which plans?', optional: true, answer_value: ['solo', 'team', 'company'] },
    { question_value: 'Anything else?', optional: true },
  ];
  const login = { body: { email: ownerEmail, password: ownerPassword } };
  const first = await step('Create tokens', 'POST', '/api/v1/auth/create_tokens', login, TOKEN_PAIR);
  const { access_token: token } = await step(
    'Refresh access token',
    'GET',
    '/api/v1/auth/refresh_access_token',
    { token: first.refresh_token },
    TOKEN_PAIR,
  );
  const waitlist = await call('POST', '/api/v1/waitlist', {
    token,
    wanted: 201,
    body: { waitlist_name: 'Tour', waitlist_url_location: 'https://example.com/join', questions },
  });
  try {
    await walk(waitlist, token);
  } finally {
    await call('DELETE', `/api/v1/waitlist/${waitlist.id}`, { token, wanted: 204 });
  }
}

async function walk({ id: waitlist_id, api_key }, token) {
  const join = (body) => ({ body: { waitlist_id, ...body } });
  const find = (query) => withQuery('/api/v1/signup', { waitlist_id, ...query });
  const email = `ada-${randomUUID()}@example.com`;
  const phone = '+14155550123';

  for (const name of ['grace', 'edsger', 'barbara'])
    await call('POST', '/api/v1/signup', join({ email: `${name}@example.com` }));
  const ada = await step(
    'Create a Signup',
    'POST',
    '/api/v1/signup',
    join({
      email,
      phone,
      first_name: 'Ada',
      last_name: 'Lovelace',
      metadata: { plan: 'team' },
      answers: [
        { question_value: 'How did you hear of us?', optional: true, answer_value: 'A friend' },
        { question_value: 'Which plans?', optional: true, answer_value: ['solo', 'team'] },
      ],
    }),
    { ...SIGNUP, priority: exactly(3), referred_by_signup_token: exactly(null), removed_date: exactly(null) },
  );
  const byEmail = { ...SIGNUP, phone: absent, uuid: exactly(ada.uuid) };
  await step('Get a Signup by its email', 'GET', find({ email }), {}, byEmail);
  await step('Get a Signup by its phone', 'GET', find({ phone }), {}, { ...byEmail, email: absent, phone: string });
  await step(
    'Create a Signup by a referral link',
    'POST',
    '/api/v1/signup',
    join({ email: 'bob@example.com', referral_link: ada.referral_link }),
    { ...SIGNUP, phone: absent, referred_by_signup_token: exactly(ada.referral_token) },
  );
  const moved = { ...byEmail, priority: exactly(0), amount_referred: exactly(1) };
  await step('Get a Signup: the referrer moved up', 'GET', find({ email }), {}, moved);

  const list = (query) => withQuery('/api/v1/waiter', { api_key, questions_request: true, ...query });
  const listed = { ...LISTED_WAITER, total_waiters_currently: exactly(5), waitlist_api_key: exactly(api_key) };
  const waiters = await step('Get Waiter', 'GET', list({}), { token }, listed);
  const { id } = waiters.find((waiter) => waiter.uuid === ada.uuid);
  const [gone] = await step(
    'Offboard Waiter',
    'PATCH',
    '/api/v1/waiter',
    { token, body: { api_key, offboard_request: true, waiters: [{ id }] } },
    { ...OFFBOARDED_WAITER, removed_from_waitlist: exactly(true), removed_priority: exactly(0), email: exactly(email) },
  );
  await step(
    'Get Waiter: the offboarded',
    'GET',
    list({ offboarded_request: true }),
    { token },
    { ...LISTED_WAITER, uuid: exactly(ada.uuid), removed_date: exactly(gone.removed_date) },
  );
}

if (!ownerEmail || !ownerPassword) {
  console.error('Set OWNER_EMAIL and OWNER_PASSWORD to those of the service; the first start prints them.');
  process.exit(1);
}
try {
  await tour();
} catch (error) {
  console.error(error.cause ? `${base} cannot be reached (${error.cause.code}).` : error.message);
  process.exit(1);
}
console.log(faults === 0 ? 'Every answer is as specified.' : `${faults} faults.`);
process.exitCode = faults === 0 ? 0 : 1;
