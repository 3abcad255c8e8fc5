import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';

/** `X-Total-Count`, and `Link` (RFC 8288) to the next page: the same request, to go on after the last id. */
@Injectable()
export class PageHeaders {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  set(
    request: FastifyRequest,
    reply: FastifyReply,
    page: { readonly total: number; readonly lastId: number | undefined },
  ): void {
    void reply.header('X-Total-Count', page.total);
    if (page.lastId === undefined) return;
    // What came in a body stays out of an address.
    const [path = '', search = ''] = request.url.split('?', 2);
    const query = new URLSearchParams(search);
    query.delete('offset');
    query.set('after_id', String(page.lastId));
    void reply.header('Link', `<${this.config.publicBaseUrl}${path}?${query.toString()}>; rel="next"`);
  }
}
