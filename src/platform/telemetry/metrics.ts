import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** From a cached lookup to the longest that a client waits. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Prometheus metrics of this process. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();
  private readonly duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  constructor({ httpAdapter }: HttpAdapterHost) {
    collectDefaultMetrics({ register: this.registry });
    // The command line runs the same modules without a server.
    const fastify = (httpAdapter as HttpAdapterHost['httpAdapter'] | null)?.getInstance<FastifyInstance>();
    // The pattern of the route, never the path: a path can hold what a caller typed.
    fastify?.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
      this.duration.observe({ method, route: routeOptions.url ?? 'unknown', status: statusCode }, elapsedTime / 1000);
    });
  }

  async read(): Promise<string> {
    return this.registry.metrics();
  }
}
