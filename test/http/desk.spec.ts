import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { type Service, startService } from '../support/service.js';

/** Gzipped, of what a first visit loads: the page, its scripts and its styles. */
const FIRST_LOAD_BYTES_MAX = 300_000;

describe('the desk', () => {
  let service: Service;
  beforeAll(async () => {
    // Behind a proxy that serves it below a path, and strips the path.
    service = await startService({ environment: { PUBLIC_BASE_URL: 'https://example.com/waitlists/' } });
  });
  afterAll(() => service.stop());

  const fetchRaw = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    // eslint-disable-next-line no-restricted-syntax -- its bytes, at paths outside of the contract
    service.app.getHttpAdapter().getInstance().inject({ url, headers, method });
  const assetsOf = (body: string) =>
    [...body.matchAll(/(?:src|href)="\/waitlists(\/desk\/assets\/[^"]+)"/g)].map(([, url]) => url!);

  it('is where the root leads to', async () => {
    const { statusCode, headers } = await fetchRaw('/');

    expect([statusCode, headers.location]).toEqual([302, '/waitlists/desk']);
  });

  it('is one page at every address below it, which no cache keeps and no cookie names', async () => {
    for (const url of ['/desk', '/desk/', '/desk/1/people?search=ada', '/desk/account']) {
      const { statusCode, headers, body } = await fetchRaw(url);

      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-store',
      ]);
      expect(headers['set-cookie']).toBeUndefined();
      expect(body).toContain('<meta name="base-path" content="/waitlists" />');
      expect(body).not.toContain('"./');
    }
    expect((await fetchRaw('/desk/1/people', {}, 'HEAD')).statusCode).toBe(200);
  });

  it('allows scripts of its own host, styles with the nonce of each answer, and no frame', async () => {
    const nonces = [];
    for (const { headers, body } of [await fetchRaw('/desk'), await fetchRaw('/desk')]) {
      const nonce = /property="csp-nonce" nonce="([^"]+)"/.exec(body)![1]!;
      nonces.push(nonce);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none';script-src 'self';" +
          `style-src 'self' 'nonce-${nonce}';style-src-attr 'unsafe-inline';` +
          "img-src 'self' data: blob: https:;connect-src 'self'",
      );
      expect(headers['x-frame-options']).toBe('DENY');
      expect(body).not.toMatch(/<script(?! [^>]*src=)|<style|\son\w+=/);
    }
    expect(Buffer.from(nonces[0]!, 'base64')).toHaveLength(16);
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  it('has assets that browsers keep, compressed for clients that accept it; an unknown one is 404', async () => {
    const urls = assetsOf((await fetchRaw('/desk')).body);
    expect(urls.map((url) => url.replace(/.*\./, ''))).toEqual(expect.arrayContaining(['js', 'css']));

    for (const url of urls) {
      const plain = await fetchRaw(url);
      const compressed = await fetchRaw(url, { 'accept-encoding': 'gzip, br' });

      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(compressed.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(compressed.rawPayload).equals(plain.rawPayload)).toBe(true);
    }
    expect((await service.api.get('/desk/assets/index-unknown.js')).status).toBe(404);
  });

  it(`loads at most ${FIRST_LOAD_BYTES_MAX} bytes at a first visit`, async () => {
    const page = await fetchRaw('/desk');
    let bytes = page.rawPayload.length;
    for (const url of assetsOf(page.body))
      bytes += (await fetchRaw(url, { 'accept-encoding': 'gzip' })).rawPayload.length;

    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
  });
});
