import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../http/public.js';
import { Problem } from '../problems/problem.js';
import { Lifecycle } from './lifecycle.js';
import { Readiness } from './readiness.js';

/** Probes for an orchestrator: `/livez` shows that the process runs, `/readyz` that it can serve requests. */
@ApiExcludeController()
@Public()
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly lifecycle: Lifecycle,
  ) {}

  @Get('livez')
  @Header('Cache-Control', 'no-store')
  live() {
    return { status: 'ok' };
  }

  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async ready() {
    if (this.lifecycle.isStopping) throw new Problem('SHUTTING_DOWN');
    await this.readiness.check();
    return { status: 'ok' };
  }
}
