import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../http/public.js';
import { Problem } from '../problems/problem.js';
import { Presence } from './presence.js';
import { Readiness } from './readiness.js';

/** For whoever runs the service: alive says the process turns, ready that it can do its work. */
@ApiExcludeController()
@Public()
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly presence: Presence,
  ) {}

  @Get('livez')
  @Header('Cache-Control', 'no-store')
  live() {
    return { status: 'ok' };
  }

  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async ready() {
    if (this.presence.isLeaving) {
      throw new Problem('SHUTTING_DOWN');
    }
    await this.readiness.check();
    return { status: 'ok' };
  }
}
