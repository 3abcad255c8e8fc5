import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Config } from '../config/config.js';
import { Problem } from '../problems/problem.js';
import { addressKey, isWithin } from './address.js';
import type { SharedCounts } from './shared-counts.js';

export const WINDOW_SECONDS = 60;
/** Enough for a script that reads a list of millions page by page, and for several members in one office. */
const ACCOUNT_REQUESTS_PER_PUBLIC = 10;
const OPERATION = /^\/api\//;

type RateLimit = 'public' | 'login' | 'account';

/** Puts an operation under one of the configured limits; without it, an operation is under `account`. */
export function RateLimited(limit: RateLimit) {
  return RouteConfig({ rateLimited: limit });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    rateLimited?: RateLimit;
  }
}

/** Puts each operation, and each page that reads the database, under its limits when its route is added. */
export function limitRates(fastify: FastifyInstance, { rateLimits }: Config, counts: SharedCounts): void {
  const isExempt = isWithin(rateLimits.exempt);
  const counter = (name: string) => counts.counter(name, WINDOW_SECONDS);
  const onRequest: Record<RateLimit, onRequestAsyncHookHandler> = {
    public: limitRequests(counter('public'), rateLimits.public, isExempt),
    login: limitRequests(counter('login'), rateLimits.login, () => false),
    account: limitRequests(counter('account'), rateLimits.public * ACCOUNT_REQUESTS_PER_PUBLIC, isExempt),
  };
  fastify.addHook('onRoute', (route) => {
    const limit = route.config?.rateLimited ?? (OPERATION.test(route.url) ? 'account' : null);
    if (limit) route.onRequest = [route.onRequest ?? [], onRequest[limit]].flat();
  });
}

/** One counter for all operations under a limit. */
function limitRequests(
  counter: RateLimiterAbstract,
  requestsMax: number,
  isExempt: (address: string) => boolean,
): onRequestAsyncHookHandler {
  return async (request, reply) => {
    if (requestsMax === 0 || isExempt(request.ip)) return;
    const { consumedPoints, msBeforeNext } = await counter.penalty(addressKey(request.ip));
    reply.headers({
      'ratelimit-limit': requestsMax,
      'ratelimit-remaining': Math.max(0, requestsMax - consumedPoints),
      'ratelimit-reset': toSeconds(msBeforeNext),
    });
    if (consumedPoints > requestsMax) throw new Problem('RATE_LIMITED', { retryAfterSeconds: toSeconds(msBeforeNext) });
  };
}

export function toSeconds(durationMs: number): number {
  return Math.ceil(durationMs / 1000);
}
