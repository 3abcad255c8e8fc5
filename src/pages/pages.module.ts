import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { SignupModule } from '../signup/signup.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { Desk } from './desk.js';
import { FormPosts } from './form-posts.js';
import { HostedPage } from './hosted-page.js';
import { Widget } from './widget.js';

/** Everything that people look at: the hosted page of a waitlist, its widget, and the desk. */
@Module({
  imports: [QueueModule, SignupModule, WaitlistModule],
  providers: [Desk, HostedPage, FormPosts, Widget],
})
export class PagesModule {}
