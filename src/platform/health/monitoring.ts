import { type FastifyInstance, fastify as createServer } from 'fastify';
import type { Config } from '../config/config.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Lifecycle } from './lifecycle.js';

/** Load balancers and uptime monitors may ask with HEAD. */
const PROBE = { exposeHeadRoute: true };

/**
 * `/livez` shows that the process runs, `/readyz` that it can serve requests. `/metrics` is read by Prometheus, here
 * unless it has a port of its own.
 */
export function serveMonitoring(
  fastify: FastifyInstance,
  lifecycle: Lifecycle,
  metrics: Metrics,
  { metricsPort }: Config,
): void {
  fastify.get('/livez', PROBE, async () => ({ status: 'ok' }));
  fastify.get('/readyz', PROBE, async () => {
    await lifecycle.requireReady();
    return { status: 'ok' };
  });
  if (metricsPort === undefined) serveMetrics(fastify, metrics);
}

/** A server with nothing but `/metrics`, so that a network policy can restrict it to Prometheus. */
export function createMetricsServer(metrics: Metrics): FastifyInstance {
  const server = createServer();
  serveMetrics(server, metrics);
  return server;
}

function serveMetrics(fastify: FastifyInstance, { registry }: Metrics): void {
  fastify.get('/metrics', async (_, reply) => reply.type(registry.contentType).send(await registry.metrics()));
}
