import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { readConfig } from '../../src/platform/config/config.js';
import { createAdapter } from '../../src/platform/http/server.js';
import { LeakDetector, privateText, requireAnonymity, requireSilence } from '../support/leak-detector.js';
import { type Service, startService } from '../support/service.js';

describe('the tests of every suite', () => {
  it.each([
    ['an email', ({ email }: { email: string }) => ({ email })],
    ['a phone', ({ phone }: { phone: string }) => ({ note: `called ${phone}` })],
    ['an address', ({ email }: { email: string }) => ({ path: `/people/${encodeURIComponent(email)}` })],
    ['an API key', (_: unknown, key: string) => ({ key })],
    ['a token', (_: unknown, _key: string, token: string) => ({ headers: { authorization: `Bearer ${token}` } })],
  ])('fail where a line of the log tells %s', async (_, tell) => {
    const service = await startService();
    const { world, app } = service;
    const waitlist = await world.waitlist();
    const person = { email: 'seen@example.com', phone: '+14155550177' };
    await world.signup(waitlist, person);

    app
      .getHttpAdapter()
      .getInstance()
      .log.debug(tell(person, waitlist.api_key, waitlist.owner.token), 'seen');

    await expect(service.stop()).rejects.toThrow('The log repeats');
  });

  it('fail where the metrics tell it', () => {
    const leaks = new LeakDetector();
    leaks.keep(privateText({ email: 'seen@example.com' }));

    expect(() => leaks.check('requests{email="Seen@example.com"} 1')).toThrow('/metrics repeats');
    expect(() => leaks.check('requests{route="/api/v1/signup"} 1')).not.toThrow();
  });

  it('fail where a refusal repeats what it refuses, or tells what the service is made of', () => {
    const refusal = (text: string, headers = {}) => ({ status: 400, headers, text, body: undefined });

    expect(() => requireSilence('400', '{"detail":"Ada Lovelace is no email"}', ['Ada Lovelace'])).toThrow();
    expect(() => requireAnonymity(refusal('Error\n    at join (/app/dist/src/x.js:1:2)'))).toThrow();
    expect(() => requireAnonymity(refusal('SELECT id FROM waiter'))).toThrow();
    expect(() => requireAnonymity(refusal('{}', { 'x-powered-by': 'Express' }))).toThrow();
    expect(() => requireAnonymity(refusal('{}'))).not.toThrow();
    expect(() => requireAnonymity(refusal('{}', { 'set-cookie': `sso=${'x'.repeat(99)}-ajv-x` }))).not.toThrow();
  });
});

describe('a line of the framework itself', () => {
  it('tells neither the query nor the address of a request, nor the values of a failed statement', async () => {
    const leaks = new LeakDetector();
    const lines: string[] = [];
    const write = (line: string) => lines.push(line) && leaks.write(line);
    const fastify = createAdapter(
      readConfig({ JWT_SECRET: 'a-secret-that-signs-tokens-in-tests-only', LOG_LEVEL: 'trace' }),
      {
        log: { write },
      },
    ).getInstance();
    fastify.get('/twice', (request, reply) => {
      const duplicate = new Error("Duplicate entry 'seen@example.com'");
      const err = new QueryFailedError('INSERT', ['seen@example.com'], duplicate);
      request.log.warn({ req: request.raw, err }, 'seen');
      reply.send('once');
      reply.send('twice');
    });
    leaks.keep(['seen@example.com']);

    // eslint-disable-next-line no-restricted-syntax -- the route is this test's own, so no contract holds for it
    await fastify.inject('/twice?a=\\b&email=seen@example.com');

    expect(JSON.parse(lines[0]!)).toMatchObject({ req: { method: 'GET' }, err: { type: 'QueryFailedError' } });
    expect(lines[0]).not.toMatch(/127\.0\.0\.1/);
    expect(lines.join('')).toContain('FST_ERR_REP_ALREADY_SENT');
    expect(() => leaks.check('')).not.toThrow();
    await fastify.close();
  });
});

describe('every answer', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it.each([
    '/api/v1/signup?waitlist_id=1',
    '/api/v1/waiter',
    '/api/v1/waitlist?waitlist_id=1',
    '/nowhere',
    '/%ff',
    '/livez',
    '/metrics',
  ])('carries the headers that keep a browser from harm: %s', async (path) => {
    const { headers } = await service.api.get(path);

    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'referrer-policy': 'no-referrer',
      'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
    });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['server', 'x-powered-by']));
  });

  it('tells no version of what the service is made of', async () => {
    const { text } = await service.api.get('/metrics');

    expect(text).not.toContain(process.versions.node);
  });
});
