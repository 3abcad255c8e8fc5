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
    const refused = await api.get('/api/v1/signup');
    expect(hold({ ...refused, body: { ...refused.body, instance: 'x' } })).toThrow('contradict each other');
  });

  it('has a content policy: browsers run nothing in it and load nothing from other hosts', async () => {
    const { api } = service;
    const policyOf = async (path: string) => (await api.get(path)).headers['content-security-policy'];

    expect(await policyOf('/api/v1/signup')).toMatch(/^default-src 'none';/);
    expect(await policyOf('/docs')).not.toMatch(/unsafe|https?:|\*/);
  });
});
