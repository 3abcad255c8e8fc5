import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROBLEMS } from '../../src/platform/problems/problem-catalog.js';
import { type Service, startService } from '../support/service.js';

describe('the page /docs/errors', () => {
  let service: Service;
  let page: string;
  beforeAll(async () => {
    service = await startService();
    page = (await service.api.get('/docs/errors')).text;
  });
  afterAll(() => service.stop());

  it('is an HTML page next to /docs', async () => {
    const { status, headers } = await service.api.get('/docs/errors');

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await service.api.get('/docs')).status).toBe(200);
  });

  it('explains every error code', () => {
    const codes = Object.keys(PROBLEMS);

    expect(codes.filter((code) => !page.includes(`<section id="${code.toLowerCase()}">\n<h2>${code}</h2>`))).toEqual(
      [],
    );
  });

  it.each([
    ['an unknown path', '/api/v1/nothing', 404],
    ['a missing file of the documentation', '/docs/nothing.js', 404],
    ['a path that allows other methods', '/api/v1/auth/create_tokens', 405],
    ['a missing token', '/api/v1/waiter', 401],
    ['a request without its parameters', '/api/v1/signup', 400],
  ])('has the section that the type of a problem links to: %s', async (_, path, status) => {
    const answer = await service.api.get(path);

    expect(answer.status).toBe(status);
    const [address, anchor] = answer.body.type.split('#');
    expect(address).toBe('/docs/errors');
    expect(page).toContain(`<section id="${anchor}">\n<h2>${answer.body.error_code}</h2>`);
  });
});
