import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

type Fields = Readonly<Record<string, string | number>>;

let service: Service;
let mine: OwnedWaitlist;
/** It has the same person. */
let other: OwnedWaitlist;
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT_PUBLIC: '0', RATE_LIMIT_EXEMPT: '127.0.0.1' } });
  [mine, other] = [await service.world.waitlist(), await service.world.waitlist()];
  for (const { id } of [mine, other]) await post('/api/v1/signup', EMAIL)({ waitlist_id: id });
});
afterAll(() => service.stop());

const EMAIL = { email: 'ada@example.com' };
const VIEW = { location: 'https://example.com', referrer: '' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const textOf = (fields: Fields) =>
  new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString();

type Operation = (named: Fields) => Promise<Answer>;
const get =
  (path: string, query: Fields = {}): Operation =>
  (named) =>
    service.api.get(path, { query: { ...named, ...query } });
const post =
  (path: string, body: Fields): Operation =>
  (named) =>
    service.api.post(path, { ...named, ...body });
const postNamedInQuery =
  (path: string, body: Fields): Operation =>
  (named) =>
    service.api.post(path, body, { query: named });
const postNamedInBoth =
  (path: string, body: Fields): Operation =>
  ({ waitlist_id, ...named }) =>
    service.api.post(path, { ...named, ...body }, { query: waitlist_id === undefined ? {} : { waitlist_id } });
const postForm =
  (path: string, fields: Fields): Operation =>
  (named) =>
    service.api.post(path, undefined, { headers: FORM, raw: textOf({ ...named, ...fields }) });

const OPERATIONS: readonly [name: string, operation: Operation][] = [
  ['POST /api/v1/signup', post('/api/v1/signup', EMAIL)],
  ['POST /api/v1/signup, named in the query', postNamedInQuery('/api/v1/signup', EMAIL)],
  ['POST /api/v1/signup, its id in the query and a key in the body', postNamedInBoth('/api/v1/signup', EMAIL)],
  ['POST /api/v1/signup as a form', postForm('/api/v1/signup', EMAIL)],
  ['GET /api/v1/signup', get('/api/v1/signup', EMAIL)],
  ['POST /api/v1/signup/resend_verification', post('/api/v1/signup/resend_verification', EMAIL)],
  ['POST /api/v1/widget_heartbeats', post('/api/v1/widget_heartbeats', VIEW)],
  ['POST /api/v1/waiter', post('/api/v1/waiter', EMAIL)],
  ['GET /api/v1/waiter', get('/api/v1/waiter', EMAIL)],
  ['GET /api/v1/waitlist', get('/api/v1/waitlist')],
  ['POST /api/v1/waitlists/submit', post('/api/v1/waitlists/submit', EMAIL)],
  ['POST /api/v1/users/status', post('/api/v1/users/status', EMAIL)],
];

describe.each(OPERATIONS)('%s', (_, call) => {
  /**
   * The parts of the answer that differ between the two waitlists; none for an operation that answers the same for all.
   */
  const found = async (named: Fields) => {
    const { status, body } = await call(named);
    const { id, waitlist_id = id, referral_link } = (body ?? {}) as Record<string, unknown>;
    return { status, waitlist_id, referral_link };
  };

  it('takes the id of a waitlist, its public key or its API key as waitlist_id or as api_key', async () => {
    const named = await found({ waitlist_id: mine.id });

    expect([200, 202]).toContain(named.status);
    for (const name of [mine.id, String(mine.id), mine.public_key, mine.api_key]) {
      expect(await found({ waitlist_id: name })).toEqual(named);
      expect(await found({ api_key: name })).toEqual(named);
    }
  });

  it('reads no api_key beside a waitlist_id, whatever it holds', async () => {
    const named = await found({ waitlist_id: mine.id });

    for (const api_key of [other.id, other.public_key, other.api_key, 'ZZZZZZZ9', 'no key', '', 0])
      for (const waitlist_id of [mine.id, mine.public_key])
        expect(await found({ waitlist_id, api_key })).toEqual(named);
    expect((await call({ waitlist_id: 'ZZZZZZZ9', api_key: mine.id })).status).toBe(404);
    expect((await call({ waitlist_id: 'no key', api_key: mine.id })).status).toBe(400);
  });
});
