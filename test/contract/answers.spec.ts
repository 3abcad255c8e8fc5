import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToContract } from '../support/contract.js';
import { type Service, startService } from '../support/service.js';

describe('every answer', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: { RATE_LIMIT_PUBLIC: '1000' } });
  });
  afterAll(() => service.stop());

  it('fails the test that receives it if it deviates from the contract', async () => {
    const { api, world } = service;
    const waitlist = await world.waitlist();
    const { email } = await world.signup(waitlist);
    const answer = await api.get('/api/v1/signup', { query: { email, waitlist_id: waitlist.id } });
    const hold = (changes: object) => () => holdToContract('GET', '/api/v1/signup', { ...answer, ...changes });

    expect(hold({})).not.toThrow();
    expect(hold({ status: 201 })).toThrow('does not name this status');
    expect(hold({ body: { ...answer.body, priority: 'first' } })).toThrow('priority must be integer');
    expect(hold({ body: { ...answer.body, phone_key: '+1' } })).toThrow('must NOT have additional properties');
    expect(hold({ headers: { ...answer.headers, 'cache-control': undefined } })).toThrow('Cache-Control is missing');
    expect(hold({ headers: { ...answer.headers, link: '<x>; rel="next"' } })).toThrow('does not name the header Link');
    expect(hold({ headers: { ...answer.headers, 'ratelimit-limit': 'many' } })).toThrow('RateLimit-Limit');
  });

  it('uses the problem codes of the contract', async () => {
    const { api, world } = service;
    const waitlist = await world.waitlist();
    const query = { email: 'nobody@example.com', waitlist_id: waitlist.id };

    const { body } = await api.get('/api/v1/signup', { query });

    expect(body).toMatchObject({ error_code: 'NO_WAITER_FOUND', type: '/docs/errors#no_waiter_found' });
    expect((await api.get('/docs/errors')).text).toContain('<section id="no_waiter_found">');
  });

  it('has a policy by which a browser runs nothing in it and loads nothing from other hosts', async () => {
    const { api } = service;
    const policyOf = async (path: string) => (await api.get(path)).headers['content-security-policy'];

    expect(await policyOf('/api/v1/signup')).toMatch(/^default-src 'none';/);
    expect(await policyOf('/docs')).not.toMatch(/unsafe|https?:|\*/);
  });

  it('to a method that the path does not allow is 405 with Allow, even for QUERY', async () => {
    const answer = await service.api.call('QUERY', '/api/v1/signup?waitlist_id=1');

    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, POST');
  });
});
