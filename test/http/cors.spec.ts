import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Api } from '../support/api.js';
import { type Service, startService } from '../support/service.js';

const OTHER = 'https://landing.example';
const OWN = 'https://app.example.com';

let service: Service;
let api: Api;
beforeAll(async () => {
  service = await startService({ environment: { CORS_ORIGINS: `${OWN},http://localhost:5173` } });
  ({ api } = service);
});
afterAll(() => service.stop());

const preflight = (method: string, path: string, origin: string, requested = 'content-type'): Promise<Answer> =>
  api.call('OPTIONS', path, undefined, {
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': requested },
  });
const allowedOrigin = ({ headers }: Answer) => headers['access-control-allow-origin'];
const itemsOf = (header: unknown) => String(header).split(', ');

const PUBLIC = [
  ['POST', '/api/v1/signup'],
  ['GET', '/api/v1/signup'],
  ['GET', '/api/v1/signup/place'],
  ['GET', '/api/v1/signup/events'],
  ['POST', '/api/v1/signup/'],
  ['POST', '//api/v1//signup'],
  ['GET', '/api/v1/waitlist/1'],
  ['POST', '/api/v1/waiter/'],
  ['GET', '/api/v1/waiter'],
  ['GET', '/api/v1/waiter/1/leaderboard'],
  ['GET', '/api/v1/waitlist/1/leaderboard'],
  ['GET', '/api/v1/waitlist'],
  ['POST', '/api/v1/waitlists/submit'],
  ['POST', '/api/v1/users/status'],
  ['POST', '/api/v1/widget_heartbeats'],
] as const;
const OWNER = [
  ['PATCH', '/api/v1/waiter'],
  ['POST', '/api/v1/auth/create_tokens'],
  ['GET', '/api/v1/auth/refresh_access_token'],
  ['POST', '/api/v1/auth/session'],
  ['POST', '/api/v1/auth/session/refresh'],
  ['DELETE', '/api/v1/auth/session'],
  ['POST', '/api/v1/auth/password'],
  ['POST', '/api/v1/auth/password/forgotten'],
  ['POST', '/api/v1/auth/password/reset'],
  ['POST', '/api/v1/auth/invitation'],
  ['POST', '/api/v1/auth/invitation/accept'],
  ['POST', '/api/v1/waitlist'],
  ['PATCH', '/api/v1/waitlist/1'],
  ['DELETE', '/api/v1/waitlist/1'],
  ['POST', '/api/v1/waitlist/1/api_key'],
] as const;

describe('a page of any site', () => {
  it.each(PUBLIC)('may %s %s with the headers that pages send, without credentials', async (method, path) => {
    const { status, headers } = await preflight(method, path, OTHER, 'content-type, authorization, api-key');

    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(itemsOf(headers['access-control-allow-methods'])).toContain(method);
    expect(itemsOf(headers['access-control-allow-headers'])).toEqual([
      'content-type',
      'authorization',
      'api-key',
      'idempotency-key',
    ]);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    expect(Number(headers['access-control-max-age'])).toBeGreaterThan(0);
  });

  it.each(OWNER)('may not %s %s', async (method, path) => {
    expect(allowedOrigin(await preflight(method, path, OTHER))).toBeUndefined();
  });

  it('may read public answers, including failures and Retry-After', async () => {
    const { headers } = await api.get('/api/v1/signup', { headers: { origin: OTHER } });

    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toContain('Retry-After');
    expect(headers['cross-origin-resource-policy']).toBe('cross-origin');
  });

  it('may not read the answer of an account operation', async () => {
    expect(allowedOrigin(await api.get('/api/v1/waiter', { headers: { origin: OTHER } }))).toBeUndefined();
  });

  it('may sign up from a sandboxed frame, whose origin is null', async () => {
    expect(allowedOrigin(await preflight('POST', '/api/v1/signup', 'null'))).toBe('*');
    expect(allowedOrigin(await preflight('PATCH', '/api/v1/waiter', 'null'))).toBeUndefined();
  });
});

describe('a page of a configured origin', () => {
  it.each(OWNER)('may %s %s', async (method, path) => {
    const { status, headers } = await preflight(method, path, OWN, 'authorization, api-key');

    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(OWN);
    expect(itemsOf(headers['access-control-allow-methods'])).toContain(method);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('may read the headers for paging', async () => {
    const { headers } = await api.get('/api/v1/waiter', { headers: { origin: OWN } });

    expect(headers['access-control-allow-origin']).toBe(OWN);
    expect(itemsOf(headers['access-control-expose-headers'])).toEqual(
      expect.arrayContaining(['Link', 'X-Total-Count']),
    );
    expect(headers.vary).toMatch(/Origin/);
  });

  it.each(['https://app.example.com.evil.example', 'http://app.example.com', 'https://app.example.com:8443'])(
    'does not share its permissions with %s',
    async (origin) => {
      expect(allowedOrigin(await preflight('PATCH', '/api/v1/waiter', origin))).toBeUndefined();
    },
  );
});
