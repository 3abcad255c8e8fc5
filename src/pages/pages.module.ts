import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { MailModule } from '../mail/mail.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { SignupModule } from '../signup/signup.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { Desk } from './desk.js';
import { FormPosts } from './form-posts.js';
import { HostedPage } from './hosted-page.js';
import { LeavePage } from './leave-page.js';
import { OfferPage } from './offer-page.js';
import { VerifyPage } from './verify-page.js';
import { Widget } from './widget.js';

/** Everything that people look at: the hosted page of a waitlist, its widget, and the desk. */
@Module({
  imports: [MailModule, QueueModule, SignupModule, WaitlistModule],
  providers: [Desk, HostedPage, VerifyPage, LeavePage, OfferPage, FormPosts, Widget],
})
export class PagesModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly desk: Desk,
    private readonly hostedPage: HostedPage,
    private readonly verifyPage: VerifyPage,
    private readonly leavePage: LeavePage,
    private readonly offerPage: OfferPage,
    private readonly formPosts: FormPosts,
    private readonly widget: Widget,
  ) {}

  /** Not earlier, so that the hooks of all requests are in place. */
  onModuleInit(): void {
    // The command line has no server.
    const httpAdapter = this.host.httpAdapter as FastifyAdapter | null;
    if (httpAdapter === null) return;
    const fastify = httpAdapter.getInstance();
    this.desk.serve(fastify);
    this.hostedPage.serve(fastify);
    this.verifyPage.serve(fastify);
    this.leavePage.serve(fastify);
    this.offerPage.serve(fastify);
    this.formPosts.addHooks(fastify);
    this.widget.serve(fastify);
  }
}
