import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';

/**
 * `X-Total-Count`, and `Link` (RFC 8288) to the next page: the same request, to go on after the last id. `parameters` are
 * what the operation took of the query.
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
    // What came in a body stays out of an address, and what no parameter takes is not carried along.
    const given = [...new URLSearchParams(request.url.split('?', 2)[1])];
    const query = new URLSearchParams(given.filter(([name]) => Object.hasOwn(parameters, name) && name !== 'offset'));
    query.set('after_id', String(page.lastId));
    const { publicBaseUrl } = this.config;
    void reply.header('Link', `<${publicBaseUrl}${request.routeOptions.url}?${query.toString()}>; rel="next"`);
  }
}
