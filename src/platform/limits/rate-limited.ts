import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension } from '@nestjs/swagger';
import type { RateLimit } from './rate-limits.js';

/** Where the decorator leaves, until the document spells it out, which limit holds for an operation. */
export const RATE_LIMITED = 'x-rate-limited';

/** Holds an operation to one of the configured limits, and documents its headers and its 429. */
export function RateLimited(limit: RateLimit) {
  return applyDecorators(RouteConfig({ rateLimited: limit }), ApiExtension(RATE_LIMITED, limit));
}
