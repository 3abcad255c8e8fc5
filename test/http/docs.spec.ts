import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Service, startService } from '../support/service.js';

const PAGES = ['/docs', '/docs/legacy', '/docs/errors'];
const DOCUMENTS = ['/openapi.json', '/openapi-legacy.json'];

describe('the documentation', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** The answer as it is on the wire. */
  const fetchRaw = (url: string, headers: Record<string, string> = {}) =>
    // eslint-disable-next-line no-restricted-syntax -- its bytes, at paths outside of the contract
    service.app.getHttpAdapter().getInstance().inject({ url, headers });
  const assetsOf = async (page: string) =>
    [...(await fetchRaw(page)).body.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, url]) => url!);

  it('is compressed for clients that accept it', async () => {
    const urls = [...DOCUMENTS, ...PAGES, ...(await assetsOf('/docs'))];
    expect(urls).toHaveLength(5 + 5);

    for (const url of urls) {
      const plain = await fetchRaw(url);
      const compressed = await fetchRaw(url, { 'accept-encoding': 'gzip, br' });

      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
      expect(gunzipSync(compressed.rawPayload).equals(plain.rawPayload)).toBe(true);
    }
  });

  it('has assets that browsers keep, under a URL with their hash', async () => {
    for (const url of await assetsOf('/docs')) {
      expect((await fetchRaw(url)).headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect((await fetchRaw(url.replace(/v=.*/, 'v=another'))).headers['cache-control']).toBe('no-cache');
    }
  });

  it('has a page for each document, and each leads to the other', async () => {
    const documents = [];
    for (const [index, page] of ['/docs', '/docs/legacy'].entries()) {
      const { body } = await fetchRaw(page);
      expect(body).toContain(`data-document="${DOCUMENTS[index]!.slice(1)}"`);
      documents.push((await service.api.get(DOCUMENTS[index]!)).body as { info: { description: string } });
    }

    expect(documents[0]!.info.description).toContain('](/docs/legacy)');
    expect(documents[1]!.info.description).toContain('](/docs)');
  });

  it('has pages that browsers check, and get again only if they changed', async () => {
    for (const url of [...DOCUMENTS, ...PAGES]) {
      const { headers } = await fetchRaw(url);
      expect(headers['cache-control']).toBe('no-cache');

      const again = await fetchRaw(url, { 'if-none-match': String(headers.etag) });

      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
  });
});

it('DOCS_ENABLED=false switches the pages off, and leaves the contract', async () => {
  const service = await startService({ environment: { DOCS_ENABLED: 'false' } });

  for (const path of [...PAGES, '/docs/assets/start.js']) expect((await service.api.get(path)).status).toBe(404);
  for (const path of DOCUMENTS) expect((await service.api.get(path)).status).toBe(200);
  await service.stop();
});
