/** A newcomer's tour of a fresh service on its embedded database, whose account has OWNER_PASSWORD: node .ci/tour.js <base URL> <API key of waitlist 1> */
import assert from 'node:assert/strict';

const [base, api_key] = process.argv.slice(2);
const owner = { email: 'owner@example.com', password: process.env.OWNER_PASSWORD };

async function call(method, path, body, token) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  assert.equal(response.status, 200, `${method} ${path}: ${response.status}`);
  return response.headers.get('content-type').includes('json') ? response.json() : response.text();
}
const join = (email, referral_link) => call('POST', '/api/v1/signup', { waitlist_id: 1, email, referral_link });
const priorityOf = async (email) => (await call('GET', `/api/v1/signup?waitlist_id=1&email=${email}`)).priority;

for (const name of ['ada', 'bea', 'cleo', 'dora']) await join(`${name}@example.com`);
const eve = await join('eve@example.com');
assert.equal(eve.priority, 4);
assert.equal((await join('eve@example.com')).uuid, eve.uuid);
await join('fay@example.com', eve.referral_link);
assert.equal(await priorityOf('eve@example.com'), 1);

const { access_token: token } = await call('POST', '/api/v1/auth/create_tokens', owner);
const waiters = await call('GET', `/api/v1/waiter?api_key=${api_key}`, undefined, token);
assert.equal(waiters.length, 6);
const [first] = waiters;
const gone = await call(
  'PATCH',
  '/api/v1/waiter',
  { api_key, offboard_request: true, waiters: [{ id: first.id }] },
  token,
);
assert.deepEqual(gone.map(({ removed_priority }) => removed_priority), [0]); // prettier-ignore
assert.equal(await priorityOf('eve@example.com'), 0);

for (const path of ['/docs', '/openapi.json', '/livez', '/readyz', '/metrics']) await call('GET', path);
