import { Module } from '@nestjs/common';
import { SignupModule } from '../signup/signup.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { Desk } from './desk.js';
import { Widget } from './widget.js';

/** Everything that people look at: the hosted page of a waitlist, its widget, and the desk. */
@Module({
  imports: [SignupModule, WaitlistModule],
  providers: [Desk, Widget],
})
export class PagesModule {}
