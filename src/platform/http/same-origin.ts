import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../problems/problem.js';

/** Refuses requests of other pages: an operation that a cookie opens would be open to every page in the browser. */
@Injectable()
export class SameOriginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (isOfSameOrigin(context.switchToHttp().getRequest<FastifyRequest>())) return true;
    throw new Problem('FOREIGN_ORIGIN');
  }
}

/** Browsers send `Sec-Fetch-Site` to hosts with TLS and to localhost only, but `Origin` with every POST and DELETE. */
function isOfSameOrigin(request: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin = '' } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  // The protocol is that of the origin, because a proxy may end TLS; it makes `host:443` and `host` equal.
  const own = `${protocol}//${request.host}`;
  return URL.canParse(own) && new URL(own).host === host;
}
