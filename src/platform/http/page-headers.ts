import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Config, CONFIG } from '../config/config.js';

/**
 * Sets `X-Total-Count`, and `Link` (RFC 8288) to the next page: the same request with `after_id` set to the last id.
 * `parameters` are the query parameters that the operation knows.
 */
@Injectable()
export class PageHeaders {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  set(
    request: FastifyRequest,
    reply: FastifyReply,
    parameters: object,
    page: { readonly total: number; readonly lastId: number | undefined },
  ): void {
    void reply.header('X-Total-Count', page.total);
    if (page.lastId === undefined) return;
    // Parameters from a body must not end up in a URL, and unknown ones are dropped.
    const given = [...new URLSearchParams(request.url.split('?', 2)[1])];
    const query = new URLSearchParams(given.filter(([name]) => Object.hasOwn(parameters, name) && name !== 'offset'));
    query.set('after_id', String(page.lastId));
    const { publicBaseUrl } = this.config;
    void reply.header('Link', `<${publicBaseUrl}${request.routeOptions.url}?${query.toString()}>; rel="next"`);
  }
}
