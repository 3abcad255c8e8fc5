import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROBLEMS } from '../../src/platform/problems/problem-catalog.js';
import type { Api, CallOptions } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, World } from '../support/world.js';

const SIGNUP = '/api/v1/signup';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let service: Service;
let api: Api;
let world: World;
let waitlist: OwnedWaitlist;

beforeAll(async () => {
  service = await startService();
  ({ api, world } = service);
  waitlist = await world.waitlist();
});
afterAll(() => service.stop());

describe('a failure', () => {
  it.each<[string, string, CallOptions, number, string]>([
    ['a path in the wrong case', 'GET /API/v1/signup', {}, 404, 'NOT_FOUND'],
    ['an id of a thousand digits', `GET /api/v1/waitlist/${'1'.repeat(1000)}`, {}, 414, 'PATH_TOO_LONG'],
    ['no body', `POST ${SIGNUP}`, {}, 400, 'INVALID_REQUEST'],
    ['a body of white space', `POST ${SIGNUP}`, { raw: '  ' }, 400, 'MALFORMED_JSON'],
    ['a token without its scheme', 'GET /api/v1/waiter', { headers: { authorization: 'a.b.c' } }, 401, 'MISSING_TOKEN'],
  ])('is answered as problem details for %s', async (_, call, options, status, code) => {
    const [method, path] = call.split(' ') as ['GET', string];

    const answer = await api.call(method, path, undefined, options);

    const words = { title: expect.stringMatching(/^[A-Z]/), detail: expect.stringMatching(/./) };
    expect(answer).toMatchObject({ status, body: { error_code: code, ...words } });
  });

  it('lists each invalid field', async () => {
    const answer = await api.post(SIGNUP, { waitlist_id: 0, first_name: 5 });

    expect(answer).toMatchObject({ status: 400, body: { error_code: 'INVALID_REQUEST' } });
    expect(answer.body.errors).toEqual([
      { field: 'waitlist_id', rule: 'minimum', message: 'must be at least 1' },
      { field: 'first_name', rule: 'type', message: 'must be text' },
    ]);
    expect(answer.body.detail).toBe('waitlist_id must be at least 1; first_name must be text');
  });

  it('lists the faults of path, query and body together, each field once', async () => {
    const { token } = waitlist.owner;
    const body = {
      waitlist_nmae: 'x',
      waitlist_url_location: '\ud800',
      questions: [{}, 5],
      required_contact: { a: 1 },
    };

    const answer = await api.patch('/api/v1/waitlist/0?dry_run=true', body, { token });

    expect(answer.status).toBe(400);
    expect(answer.body.errors.map(({ field, rule }: Record<string, string>) => `${field} ${rule}`).sort()).toEqual([
      'dry_run known',
      'questions[0].question_value required',
      'questions[1] type',
      'required_contact.a known',
      'waitlist_id format',
      'waitlist_nmae known',
      'waitlist_url_location characters',
    ]);
  });

  it('lists an invalid email, an impossible phone and a name that is too long at once', async () => {
    const fields = { waitlist_id: waitlist.id, email: 'nobody', phone: 'call me', first_name: 'x'.repeat(101) };

    const answer = await api.post(SIGNUP, fields);

    expect(answer.body.errors).toMatchObject([
      { field: 'email', rule: 'format' },
      { field: 'phone', rule: 'format' },
      { field: 'first_name', rule: 'max_length' },
    ]);
  });

  it('names only the length of a list that is too long', async () => {
    const body = { offboard_request: true, api_key: waitlist.api_key, waiters: Array(1001).fill({ id: 'x' }) };

    const answer = await api.patch('/api/v1/waiter', body, { token: waitlist.owner.token });

    expect(answer.body.errors).toMatchObject([{ field: 'waiters', rule: 'max_items' }]);
  });

  it('has the name of an invalid field truncated', async () => {
    const answer = await api.post(SIGNUP, undefined, { raw: `{"${'x'.repeat(100_000)}":"\\ud800"}` });

    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].field).toHaveLength(512);
  });

  it('does not pollute prototypes by a query', async () => {
    await api.get(`${SIGNUP}?__proto__[polluted]=1&constructor.prototype.polluted=1`);

    expect({}).not.toHaveProperty('polluted');
  });

  it('does not repeat markup from the path', async () => {
    const answer = await api.get('/<script>alert(1)</script>');

    expect(answer.text).not.toContain('script');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });
});

/** Writes raw bytes to a new connection and resolves with all that the server sends. */
async function sendRaw(request: string): Promise<string> {
  const server = service.app.getHttpServer();
  if (!server.listening) await service.app.listen(0, '127.0.0.1');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(request);
  return text(socket);
}

it('OPTIONS * is answered like any other request', async () => {
  const answer = await sendRaw('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');

  expect(answer).toMatch(/^HTTP\/1.1 204 /);
  expect(answer).toMatch(/^cache-control: no-store\r$/im);
});

it.each([
  ['has two content types', 'Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2'],
  [
    'has one content type with two charsets',
    'Content-Type: application/json\r\ncontent-type: application/json; charset=utf-16\r\nContent-Length: 2',
  ],
  ['has a transfer coding', 'Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked'],
])('a request is refused with 415 if it %s', async (_, headers) => {
  const body = headers.includes('chunked') ? '2\r\n{}\r\n0\r\n\r\n' : '{}';

  const answer = await sendRaw(`POST ${SIGNUP} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n\r\n${body}`);

  expect(answer).toMatch(/^HTTP\/1\.1 415 /);
  expect(answer).toContain('"error_code":"UNSUPPORTED_MEDIA_TYPE"');
});

describe('malformed HTTP', () => {
  it.each([
    ['an unknown method', 'FOO / HTTP/1.1\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    [
      'a URL in unencoded UTF-8',
      'GET /api/v1/signup?waitlist_id=1&email=caf\u00e9@example.com HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
      'MALFORMED_REQUEST',
    ],
    ['headers that are too large', `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ])('is answered as problem details: %s', async (_, request, status, code) => {
    const answer = await sendRaw(request);

    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nx-request-id: [\da-f-]{36}\r\n/i);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status, error_code: code });
  });
});

it('/docs/errors explains every error code', async () => {
  const { status, headers, text: page } = await api.get('/docs/errors');

  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  for (const code of Object.keys(PROBLEMS))
    expect(page).toContain(`<section id="${code.toLowerCase()}">\n<h2>${code}</h2>`);
});

describe('a body', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset=UTF-8'])(
    'is accepted as %s',
    async (type) => {
      const raw = JSON.stringify({ waitlist_id: waitlist.id, email: 'type@example.com' });

      expect((await api.post(SIGNUP, undefined, { raw, headers: { 'content-type': type } })).status).toBe(200);
    },
  );

  it('may have 256 KiB, or 1 MiB in an offboarding', async () => {
    const filled = (body: object, size: number) => {
      const bare = JSON.stringify({ ...body, fill: '' });
      return JSON.stringify({ ...body, fill: 'x'.repeat(size - bare.length) });
    };
    const { api_key, owner } = waitlist;
    const signup = filled({ waitlist_id: waitlist.id, email: 'large@example.com' }, 256 * 1024);
    const offboarding = filled({ api_key, offboard_request: true, waiters: [{ id: 1 }] }, 1024 * 1024);

    expect((await api.post(SIGNUP, undefined, { raw: signup })).status).toBe(200);
    expect((await api.patch('/api/v1/waiter', undefined, { raw: offboarding, token: owner.token })).status).toBe(200);
  });
});

describe('a method that the path does not allow', () => {
  it.each([
    ['PUT', SIGNUP, ['GET', 'POST', 'PATCH', 'DELETE']],
    ['QUERY', `${SIGNUP}?waitlist_id=1`, ['GET', 'POST', 'PATCH', 'DELETE']],
    ['POST', '/api/v1/waitlist/1', ['GET', 'PATCH', 'DELETE']],
    ['PUT', '//api/v1//signup/', ['GET', 'POST', 'PATCH', 'DELETE']],
  ] as const)('is answered with 405 and the allowed ones: %s %s', async (method, path, allowed) => {
    const answer = await api.call(method, path);

    expect(answer).toMatchObject({ status: 405, body: { error_code: 'METHOD_NOT_ALLOWED' } });
    expect(String(answer.headers.allow).split(', ').sort()).toEqual([...allowed].sort());
  });

  it('may be HEAD, which must not run the handler of GET', async () => {
    const known = await api.call('HEAD', SIGNUP);
    const unknown = await api.call('HEAD', '/nowhere');

    expect(known.status).toBe(405);
    expect(known.headers.allow).toMatch(/GET/);
    expect(unknown.status).toBe(404);
  });
});

describe('a path', () => {
  it.each(['/api/v1/signup/', '/api//v1///signup'])('may have repeated and trailing slashes: %s', async (path) => {
    const posted = await api.post(path, { waitlist_id: waitlist.id, email: 'slash@example.com' });
    const found = await api.get(path, { query: { waitlist_id: waitlist.id, email: 'slash@example.com' } });

    expect([posted.status, found.status]).toEqual([200, 200]);
    expect(found.body).toEqual(posted.body);
  });
});

describe('a request id', () => {
  const idFor = async (given?: string) => {
    const headers: Record<string, string> = given === undefined ? {} : { 'x-request-id': given };
    return (await api.get('/nowhere', { headers })).headers['x-request-id'];
  };

  it('is new for each request, and successes have one too', async () => {
    const [one, two] = [await idFor(), await idFor()];

    expect((await api.get('/livez')).headers['x-request-id']).toMatch(UUID);
    expect(one).toMatch(UUID);
    expect(two).not.toBe(one);
  });

  it("is the caller's own if that is valid", async () => {
    expect(await idFor('job-42.retry_1')).toBe('job-42.retry_1');
  });

  it.each(['', 'a b', '<script>', 'x'.repeat(65), 'a,b'])('replaces the invalid id %j', async (given) => {
    expect(await idFor(given)).toMatch(UUID);
  });
});
