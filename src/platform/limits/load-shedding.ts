import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import type { Lifecycle } from '../health/lifecycle.js';
import { Problem } from '../problems/problem.js';
import { isMonitoringRoute } from '../telemetry/requests.js';

/** Time over which the delay of the event loop is averaged; a shorter pause is no overload. */
const SAMPLE_MS = 2_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Called by @fastify/under-pressure instead of refusing the request. */
    pressureHandler?: () => undefined;
  }
}

/** Answers 503 while the mean delay of the event loop is above `loopDelayMs`; 0 turns this off. */
export async function shedLoad(fastify: FastifyInstance, lifecycle: Lifecycle, loopDelayMs: number): Promise<void> {
  fastify.addHook('onRoute', (route) => {
    // If an overloaded process failed its probes, its restart would move the load to the others.
    if (isMonitoringRoute(route.url)) route.config = { ...route.config, pressureHandler: () => undefined };
  });
  await fastify.register(underPressure, {
    maxEventLoopDelay: loopDelayMs,
    sampleInterval: SAMPLE_MS,
    // The start itself blocks the event loop. That counts in the first sample after it, which is in use until the next.
    pressureHandler: async () => {
      if (lifecycle.sinceStartMs > 2 * SAMPLE_MS) throw new Problem('OVERLOADED');
    },
  });
}
