import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** What a browser may load for a page, by directive; nothing that is not named. */
export type PagePolicy = Readonly<Record<string, readonly string[]>>;

/**
 * The headers that helmet sets, worked out once: as a middleware it works them out again for each request, which cost a
 * lookup a twelfth of its time. Pages of other sites may read our answers where CORS lets them.
 */
export function safeHeaders(policy: PagePolicy): OutgoingHttpHeaders {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const secure = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': ["'none'"],
        ...policy,
      },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  });
  secure(request, response, (error) => {
    if (error) throw error as Error;
  });
  return response.getHeaders();
}

/** For answers that are data: a browser that shows one as a page runs nothing of it. The pages of `/docs` have their own. */
export const DATA_HEADERS = { ...safeHeaders({}), 'cache-control': 'no-store' };
