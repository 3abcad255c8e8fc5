import { Module } from '@nestjs/common';
import { Desk } from './desk.js';

/** Everything that people look at. */
@Module({ providers: [Desk] })
export class PagesModule {}
