import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

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

/** Operations that a page of any site may call: signing up, looking up, the public view of a waitlist, page views. */
const ANY_ORIGIN: readonly { readonly methods: readonly string[]; readonly path: RegExp }[] = [
  { methods: ['GET', 'POST'], path: /^\/+api\/+v1\/+signup\/*$/ },
  { methods: ['GET'], path: /^\/+api\/+v1\/+waitlist\/+\d+\/*$/ },
  { methods: ['POST'], path: /^\/+api\/+v1\/+widget_heartbeats\/*$/ },
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
export async function allowOrigins(fastify: FastifyInstance, origins: readonly string[]): Promise<void> {
  const anyOrigin = { ...COMMON, origin: '*' };
  const configuredOrigins = { ...COMMON, origin: [...origins] };
  await fastify.register(cors, {
    delegator: (request, done) => done(null, isForAnyOrigin(request) ? anyOrigin : configuredOrigins),
  });
}

function isForAnyOrigin({ headers, method, url }: FastifyRequest): boolean {
  const requestedMethod = headers['access-control-request-method'] ?? method;
  const [path = ''] = url.split('?', 1);
  return ANY_ORIGIN.some((rule) => rule.methods.includes(requestedMethod) && rule.path.test(path));
}
