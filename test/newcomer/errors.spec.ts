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
});
