import { Inject, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { type Config, CONFIG } from '../platform/config/config.js';
import { InDocument } from '../platform/contract/document.js';
import { SignupModule } from '../signup/signup.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { addDeprecationHeaders } from './deprecation.js';
import { FirstGenerationController } from './first-generation.controller.js';
import { addQueryConstraints } from './public-queries.js';
import { SecondGenerationController } from './second-generation.controller.js';
import { WaitlistViewController } from './waitlist-view.controller.js';

/**
 * The earlier generations of the API: their paths and fields, translated to the services of the current one. Nothing
 * else depends on the module, so removing it drops them.
 *
 * - first: `POST /api/v1/waitlists/submit`, `POST /api/v1/users/status`
 * - second: `POST /api/v1/waiter`, `GET /api/v1/waiter?email=…`, `GET /api/v1/waiter/{waitlist_id}/leaderboard`; the
 *   view `GET /api/v1/waitlist?waitlist_id=…` is in `waitlist-view.controller.ts`
 */
@InDocument('legacy')
@Module({
  imports: [SignupModule, WaitlistModule],
  controllers: [SecondGenerationController, WaitlistViewController, FirstGenerationController],
})
export class LegacyModule {
  constructor(host: HttpAdapterHost<FastifyAdapter>, @Inject(CONFIG) { publicBaseUrl }: Config) {
    // The command line has no server. On a server, Nest calls this before it adds the routes and the other hooks.
    const httpAdapter = host.httpAdapter as FastifyAdapter | null;
    if (httpAdapter === null) return;
    const fastify = httpAdapter.getInstance();
    addQueryConstraints(fastify);
    addDeprecationHeaders(fastify, publicBaseUrl);
  }
}
