import { Inject, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { type Config, CONFIG } from '../platform/config/config.js';
import { InDocument } from '../platform/contract/document.js';
import { SignupModule } from '../signup/signup.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { announceSuccessors } from './deprecation.js';
import { FirstGenerationController } from './first-generation.controller.js';
import { tellQueriesApart } from './public-queries.js';
import { SecondGenerationController } from './second-generation.controller.js';
import { WaitlistViewController } from './waitlist-view.controller.js';

/**
 * The earlier generations of the API: their paths and field names, translated to the services of the current one. Without
 * this module they do not exist.
 */
@InDocument('legacy')
@Module({
  imports: [SignupModule, WaitlistModule],
  controllers: [SecondGenerationController, WaitlistViewController, FirstGenerationController],
})
export class LegacyModule {
  constructor(host: HttpAdapterHost<FastifyAdapter>, @Inject(CONFIG) { publicBaseUrl }: Config) {
    // The command line has no server. A server gets these before its routes and other hooks.
    const httpAdapter = host.httpAdapter as FastifyAdapter | null;
    if (httpAdapter === null) return;
    const fastify = httpAdapter.getInstance();
    tellQueriesApart(fastify);
    announceSuccessors(fastify, publicBaseUrl);
  }
}
