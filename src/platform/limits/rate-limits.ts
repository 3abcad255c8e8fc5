import rateLimit, { type FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, preSerializationAsyncHookHandler, RouteOptions } from 'fastify';
import type { Config } from '../config/config.js';
import { addressKey, isWithin } from './address.js';
import type { SharedCounts } from './shared-counts.js';
import { Problem } from '../problems/problem.js';

const WINDOW_SECONDS = 60;
/** Addresses whose counts a process keeps; the one that has been quiet for longest is forgotten first. */
const ADDRESSES_MAX = 10_000;
/**
 * Lookups that find nobody may be one in so many of the public limit: enough for visitors behind one address of an
 * office or a mobile network, whose page asks before it shows its form; too few to try a list of people.
 */
const PUBLIC_REQUESTS_PER_MISS = 10;
/** Enough for an owner's script that reads a list of millions page by page, and for several owners in one office. */
const OWNER_REQUESTS_PER_PUBLIC = 10;

export type RateLimit = 'public' | 'lookup' | 'login' | 'owner';
/** Where nothing else is said, so that no operation is without one. */
export const RATE_LIMIT_DEFAULT: RateLimit = 'owner';
const OPERATION = /^\/api\//;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which of the configured limits holds for the route; `lookup` is `public` and the limit on misses. */
    rateLimited?: RateLimit;
  }
  interface FastifyRequest {
    addressKey?: string;
    /** Of a signup: it told who is on the list, and put nobody there. */
    isLookup?: boolean;
  }
}

/** Holds each route, as it is put on the server, to the limits that its configuration names. */
export async function limitRates(fastify: FastifyInstance, config: Config, counts: SharedCounts): Promise<void> {
  const { rateLimits, redisUrl } = config;
  await fastify.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    timeWindow: WINDOW_SECONDS * 1000,
    cache: ADDRESSES_MAX,
    store: redisUrl === undefined ? undefined : sharedStore(counts),
    errorResponseBuilder: (_, { ttl }) => tooMany('RATE_LIMITED', ttl),
  });
  fastify.decorateRequest('addressKey');
  fastify.decorateRequest('isLookup');
  const isExempt = isWithin(rateLimits.exempt);
  // One hook a limit, for a hook holds the counts: what shares a limit shares its hook.
  const hookOf = (name: string, max: number, allowList?: (request: FastifyRequest) => boolean) =>
    max === 0 ? [] : [fastify.rateLimit({ max, allowList, keyGenerator: (request) => `${name} ${keyOf(request)}` })];
  const allowList = rateLimits.exempt.length > 0 ? ({ ip }: FastifyRequest) => isExempt(ip) : undefined;
  const publicLimit = hookOf('public', rateLimits.public, allowList);
  const onRequest = {
    public: publicLimit,
    lookup: publicLimit,
    login: hookOf('login', rateLimits.login),
    owner: hookOf('owner', rateLimits.public * OWNER_REQUESTS_PER_PUBLIC, allowList),
  } as const satisfies Record<RateLimit, unknown>;
  const missLimit = rateLimits.public === 0 ? [] : [limitMisses(counts, rateLimits.public, isExempt)];
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (!OPERATION.test(route.url)) return;
    const limited = route.config?.rateLimited ?? RATE_LIMIT_DEFAULT;
    route.onRequest = [route.onRequest ?? [], onRequest[limited]].flat();
    if (limited === 'lookup') route.preSerialization = [route.preSerialization ?? [], missLimit].flat();
  });
}

/**
 * Who tries a list of people learns of a few only. A signup that breaks a rule is a lookup too, for it finds whoever is
 * on the list already. Held when the answer is known, and to what was found and what was not alike: lookups sent at once
 * would each find the budget unspent before, and one that is refused must not tell which it was.
 */
function limitMisses(
  counts: SharedCounts,
  publicMax: number,
  isExempt: (address: string) => boolean,
): preSerializationAsyncHookHandler {
  const points = Math.ceil(publicMax / PUBLIC_REQUESTS_PER_MISS);
  const misses = counts.limiter('misses', { points, windowSeconds: WINDOW_SECONDS });
  return async (request, { statusCode }, payload) => {
    const isSignup = request.method === 'POST';
    const isMiss = statusCode === (isSignup ? 422 : 404);
    const isHit = statusCode === 200 && (!isSignup || request.isLookup === true);
    if ((!isMiss && !isHit) || isExempt(request.ip)) return payload;
    const key = keyOf(request);
    const state = isMiss ? await misses.penalty(key) : await misses.get(key);
    const isSpent = state !== null && (isMiss ? state.consumedPoints > points : state.consumedPoints >= points);
    if (!isSpent) return payload;
    throw tooMany('TOO_MANY_MISSES', state.msBeforeNext);
  };
}

/** Worked out once a request: for an IPv6 address it takes longer than the counting. */
function keyOf(request: FastifyRequest): string {
  return (request.addressKey ??= addressKey(request.ip));
}

/** What @fastify/rate-limit counts by; it holds the counts to the maximum itself, so the limiter has none. */
function sharedStore(counts: SharedCounts): FastifyRateLimitStoreCtor {
  const limiter = counts.limiter('requests', { points: 0, windowSeconds: WINDOW_SECONDS });
  type Done = (error: Error | null, result?: { current: number; ttl: number }) => void;
  return class SharedStore {
    incr(key: string, done: Done): void {
      limiter.penalty(key).then(({ consumedPoints, msBeforeNext }) => {
        done(null, { current: consumedPoints, ttl: msBeforeNext });
      }, done);
    }

    child(): this {
      return this;
    }
  };
}

function tooMany(code: 'RATE_LIMITED' | 'TOO_MANY_MISSES', ttlMs: number): Problem {
  return new Problem(code, { retryAfterSeconds: Math.ceil(ttlMs / 1000) });
}
