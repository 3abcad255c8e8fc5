import type { FastifyRequest } from 'fastify';

/** The Content-Security-Policy of a page: allowed sources by directive. Everything else is refused. */
export type PagePolicy = Readonly<Record<string, readonly string[]>>;

const BASE_POLICY: PagePolicy = {
  'default-src': ["'none'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** The headers that helmet recommends. Pages of other sites may read our answers where CORS allows it. */
export function safeHeaders(policy: PagePolicy): Record<string, string> {
  const directives = Object.entries({ ...BASE_POLICY, ...policy });
  return {
    'content-security-policy': directives.map(([name, sources]) => `${name} ${sources.join(' ')}`).join(';'),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'cross-origin',
    'origin-agent-cluster': '?1',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'x-download-options': 'noopen',
    'x-frame-options': 'SAMEORIGIN',
    'x-permitted-cross-domain-policies': 'none',
    'x-xss-protection': '0',
  };
}

/** For every answer that is data: a browser that renders one as a page runs nothing in it. */
export const DATA_HEADERS = { ...safeHeaders({}), 'cache-control': 'no-store' };

/** Whether a header was sent more than once. A proxy may have checked the other value (RFC 9110, 5.3). */
export function isRepeated({ raw }: Pick<FastifyRequest, 'raw'>, name: string): boolean {
  return raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;
}
