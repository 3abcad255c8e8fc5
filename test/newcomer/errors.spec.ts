import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROBLEM_CODES } from '../../src/platform/problem-codes.js';
import { HTTP_FAULTS } from '../../src/platform/http/problem-status.js';
import { type Service, startService } from '../support/service.js';

describe('the page of errors', () => {
  let service: Service;
  let page: string;
  beforeAll(async () => {
    service = await startService();
    page = (await service.api.get('/docs/errors')).text;
  });
  afterAll(() => service.stop());

  it('is an HTML page beside the operations', async () => {
    const { status, headers } = await service.api.get('/docs/errors');

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await service.api.get('/docs')).status).toBe(200);
  });

  it('explains every code that the service can answer with', () => {
    const codes = [
      ...problemsInSource().map(({ code }) => code),
      ...Object.values(HTTP_FAULTS).map(({ code }) => code),
      'INTERNAL_ERROR',
    ];

    expect(codes.filter((code) => !page.includes(`<h2 id="${code.toLowerCase()}">${code}\n`))).toEqual([]);
  });

  it('gives each problem the kind with which it is thrown, and explains none that is never thrown', () => {
    const thrown = problemsInSource().map(({ code, kind }) => [code, kind]);
    const explained = Object.entries(PROBLEM_CODES).map(([code, { kind }]) => [code, kind]);

    expect(Object.fromEntries(thrown.sort())).toEqual(Object.fromEntries(explained.sort()));
  });

  it.each([
    ['an unknown path', '/api/v1/nothing', 404],
    ['a file of the documentation that is not there', '/docs/nothing.js', 404],
    ['a path that takes other methods', '/api/v1/auth/create_tokens', 405],
    ['a missing token', '/api/v1/waiter', 401],
    ['a request without its parameters', '/api/v1/signup', 400],
  ])('is where the type of a problem leads: %s', async (_, path, status) => {
    const answer = await service.api.get(path);

    expect(answer.status).toBe(status);
    const [address, anchor] = answer.body.type.split('#');
    expect(address).toBe('/docs/errors');
    expect(page).toContain(`<h2 id="${anchor}">${answer.body.error_code}\n`);
  });
});

function problemsInSource(): { kind: string; code: string }[] {
  const root = new URL('../../src/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.spec)\.ts$/.test(file),
  );
  const problems = files.flatMap((file) => [
    ...readFileSync(new URL(file, root), 'utf8').matchAll(/new Problem\(\s*'(?<kind>\w+)',\s*'(?<code>\w+)'/g),
  ]);
  expect(problems.length).toBeGreaterThan(10);
  return problems.map(({ groups }) => groups as { kind: string; code: string });
}
