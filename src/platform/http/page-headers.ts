import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Config, CONFIG } from '../config/config.js';

/** Sets the headers of a page: `Link` (RFC 8288) to the next page, and `X-Total-Count` where the total is known. */
@Injectable()
export class PageHeaders {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** `query` has the parameters that the operation knows. The link repeats those of the URL, from `nextAfterId` on. */
  set(
    reply: FastifyReply,
    query: object,
    { total, nextAfterId }: { total?: number; nextAfterId: number | string | null },
  ): void {
    if (total !== undefined) void reply.header('X-Total-Count', total);
    if (nextAfterId === null) return;
    const { url, routeOptions, params } = reply.request;
    // Parameters from a body must not end up in a URL, and unknown ones are dropped.
    const given = [...new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length + 1))];
    const next = new URLSearchParams(given.filter(([name]) => Object.hasOwn(query, name) && name !== 'offset'));
    next.set('after_id', String(nextAfterId));
    const path = routeOptions.url?.replaceAll(
      /:(\w+)/g,
      (_, name: string) => (params as Readonly<Record<string, string>>)[name] ?? '',
    );
    void reply.header('Link', `<${this.config.publicBaseUrl}${path}?${next.toString()}>; rel="next"`);
  }
}
