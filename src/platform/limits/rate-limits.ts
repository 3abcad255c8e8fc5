import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, onRequestAsyncHookHandler, preSerializationAsyncHookHandler } from 'fastify';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Config } from '../config/config.js';
import { Problem } from '../problems/problem.js';
import { addressKey, isWithin } from './address.js';
import type { SharedCounts } from './shared-counts.js';

const WINDOW_SECONDS = 60;
/**
 * One in this many public requests may be a lookup that finds no record: enough for visitors behind one address of an
 * office or a mobile network, whose page looks them up before it shows its form; too few to test a list of emails.
 */
const PUBLIC_REQUESTS_PER_MISS = 10;
/** Enough for an owner's script that reads a list of millions page by page, and for several owners in one office. */
const OWNER_REQUESTS_PER_PUBLIC = 10;
const OPERATION = /^\/api\//;

/** `lookup` is the public limit and the limit on misses. */
type RateLimit = 'public' | 'lookup' | 'login' | 'owner';

/** Puts an operation under one of the configured limits; without it, an operation is under `owner`. */
export function RateLimited(limit: RateLimit) {
  return RouteConfig({ rateLimited: limit });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    rateLimited?: RateLimit;
  }
  interface FastifyRequest {
    /** True if a signup broke a rule of the waitlist and still got an existing record. Counts as a lookup: it reveals that record. */
    revealsRecord?: boolean;
  }
}

/** Puts each operation under its limits when its route is added. */
export function limitRates(fastify: FastifyInstance, { rateLimits }: Config, counts: SharedCounts): void {
  fastify.decorateRequest('revealsRecord');
  const isExempt = isWithin(rateLimits.exempt);
  const counter = (name: string) => counts.counter(name, WINDOW_SECONDS);
  const publicLimit = limitRequests(counter('public'), rateLimits.public, isExempt);
  const onRequest: Record<RateLimit, onRequestAsyncHookHandler> = {
    public: publicLimit,
    lookup: publicLimit,
    login: limitRequests(counter('login'), rateLimits.login, () => false),
    owner: limitRequests(counter('owner'), rateLimits.public * OWNER_REQUESTS_PER_PUBLIC, isExempt),
  };
  const onMiss = limitMisses(counter('misses'), rateLimits.public, isExempt);
  fastify.addHook('onRoute', (route) => {
    if (!OPERATION.test(route.url)) return;
    const limited = route.config?.rateLimited ?? 'owner';
    route.onRequest = [route.onRequest ?? [], onRequest[limited]].flat();
    if (limited === 'lookup') route.preSerialization = [route.preSerialization ?? [], onMiss].flat();
  });
}

type IsExempt = (address: string) => boolean;

/** One counter for all operations under a limit. */
function limitRequests(
  counter: RateLimiterAbstract,
  requestsMax: number,
  isExempt: IsExempt,
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

/**
 * Limits unsuccessful lookups per address, so that a list of emails cannot be tested. A signup that breaks a rule counts
 * too, because it finds existing records. A miss is counted after the lookup: parallel lookups would all pass a check made
 * before it. Beyond the limit, hits and misses get the same 429, so it reveals nothing.
 */
function limitMisses(
  counter: RateLimiterAbstract,
  publicMax: number,
  isExempt: IsExempt,
): preSerializationAsyncHookHandler {
  const missesMax = Math.ceil(publicMax / PUBLIC_REQUESTS_PER_MISS);
  return async (request, { statusCode }, payload) => {
    const isSignup = request.method === 'POST';
    const isMiss = statusCode === (isSignup ? 422 : 404);
    const isHit = statusCode === 200 && (!isSignup || request.revealsRecord === true);
    if (publicMax === 0 || (!isMiss && !isHit) || isExempt(request.ip)) return payload;
    const key = addressKey(request.ip);
    const count = isMiss ? await counter.penalty(key) : await counter.get(key);
    const isSpent = count !== null && (isMiss ? count.consumedPoints > missesMax : count.consumedPoints >= missesMax);
    if (!isSpent) return payload;
    throw new Problem('TOO_MANY_MISSES', { retryAfterSeconds: toSeconds(count.msBeforeNext) });
  };
}

function toSeconds(durationMs: number): number {
  return Math.ceil(durationMs / 1000);
}
