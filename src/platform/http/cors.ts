import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Routes } from './routes.js';

const PREFLIGHT_MAX_AGE_SECONDS = 86_400;
const EXPOSED_HEADERS = [
  'Link',
  'X-Total-Count',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Idempotent-Replayed',
  'x-request-id',
];

const COMMON: FastifyCorsOptions = {
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  allowedHeaders: ['content-type', 'authorization', 'api-key', 'idempotency-key'],
  exposedHeaders: EXPOSED_HEADERS,
  credentials: false,
  maxAge: PREFLIGHT_MAX_AGE_SECONDS,
  strictPreflight: false,
};

/** Lets any page call the public operations, and pages of `origins` call the others. */
export async function allowOrigins(
  fastify: FastifyInstance,
  origins: readonly string[],
  routes: Routes,
): Promise<void> {
  const anyOrigin = { ...COMMON, origin: '*' };
  const configuredOrigins = { ...COMMON, origin: [...origins] };
  await fastify.register(cors, {
    delegator: (request, done) => done(null, isForAnyOrigin(request, routes) ? anyOrigin : configuredOrigins),
  });
}

/** A preflight has neither the headers nor the body of its request, so it may be for any operation of the path and method. */
function isForAnyOrigin({ headers, method, url, routeOptions }: FastifyRequest, routes: Routes): boolean {
  const requestedMethod = headers['access-control-request-method'];
  if (method !== 'OPTIONS' || requestedMethod === undefined) return routeOptions.config.rateLimited === 'public';
  return routes.arePublic(url.split('?', 1)[0] ?? '/', requestedMethod);
}
