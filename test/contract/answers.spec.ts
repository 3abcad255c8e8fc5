import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToContract } from '../support/contract.js';
import { type Service, startService } from '../support/service.js';

type Node = Readonly<Record<string, unknown>>;

/** Each `enum` that a client meets in a response of the document, by where it stands. Null alone closes no list. */
function closedEnums(document: Node): string[] {
  const found = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (node: unknown, path: string) => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    const { $ref, enum: values, ...others } = node as Node;
    if (typeof $ref === 'string') {
      const names = $ref.split('/').slice(1);
      const target = names.reduce<unknown>((parent, key) => (parent as Node)[key], document);
      visit(target, $ref);
    }
    if (Array.isArray(values) && values.some((value) => value !== null)) found.add(path);
    for (const [name, child] of Object.entries(others))
      if (!['example', 'examples', 'default'].includes(name)) visit(child, `${path}/${name}`);
  };
  for (const [path, item] of Object.entries(document.paths as Record<string, Node>))
    for (const [method, operation] of Object.entries(item)) visit((operation as Node).responses, `${method} ${path}`);
  return [...found];
}

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
    expect(hold({ body: { ...answer.body, status: 'invited' } })).toThrow('status must be equal to one of');
    expect(hold({ body: { ...answer.body, phone_key: '+1' } })).toThrow('must NOT have additional properties');
    expect(hold({ headers: { ...answer.headers, 'cache-control': undefined } })).toThrow('Cache-Control is missing');
    expect(hold({ headers: { ...answer.headers, link: '<x>; rel="next"' } })).toThrow('does not name the header Link');
    expect(hold({ headers: { ...answer.headers, 'ratelimit-limit': 'many' } })).toThrow('RateLimit-Limit');
    const refused = await api.get('/api/v1/signup');
    expect(hold({ ...refused, body: { ...refused.body, instance: 'x' } })).toThrow('contradict each other');
  });

  it.each(['openapi.json', 'legacy.json'])('may have values of text that a later version adds: %s', (name) => {
    const text = readFileSync(new URL(`../../openapi/${name}`, import.meta.url), 'utf8');

    expect(closedEnums(JSON.parse(text) as Node)).toEqual([]);
    expect(text.includes('"x-extensible-enum"')).toBe(true);
  });

  it('has a content policy: browsers run nothing in it and load nothing from other hosts', async () => {
    const { api } = service;
    const policyOf = async (path: string) => (await api.get(path)).headers['content-security-policy'];

    expect(await policyOf('/api/v1/signup')).toMatch(/^default-src 'none';/);
    expect(await policyOf('/docs')).not.toMatch(/unsafe|https?:|\*/);
  });
});
