import underPressure from '@fastify/under-pressure';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, preSerializationHookHandler } from 'fastify';
import type { Lifecycle } from '../health/lifecycle.js';
import { Problem } from '../problems/problem.js';
import { MONITORING_ROUTES } from '../telemetry/requests.js';

/** Time over which the delay of the event loop is averaged; a shorter pause is no overload. */
const SAMPLE_MS = 2_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Called by @fastify/under-pressure instead of refusing the request. */
    pressureHandler?: () => undefined;
    /** Whether a request with this body, not validated yet, is exempt because its work grows with the waitlist. */
    isLongWork?: (body: unknown) => boolean;
    /** The time that a request with this body, not yet validated, waits for another service: added to the deadline. */
    waitsMs?: (body: unknown) => number;
  }
  interface FastifyRequest {
    answerTimer?: NodeJS.Timeout;
  }
}

/** Answers 503 while the mean delay of the event loop is above `loopDelayMs`; 0 turns this off. */
export async function shedLoad(fastify: FastifyInstance, lifecycle: Lifecycle, loopDelayMs: number): Promise<void> {
  fastify.addHook('onRoute', (route) => {
    // If an overloaded process failed its probes, its restart would move the load to the others.
    if (MONITORING_ROUTES.has(route.url)) route.config = { ...route.config, pressureHandler: () => undefined };
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

/**
 * Answers 503 if a request has no answer `answerMs` after it arrived in full: pieces of work have shorter deadlines,
 * but they add up. The work goes on: repeating a signup or a write with an `Idempotency-Key` is harmless, but repeating
 * the creation of a waitlist without one makes a second waitlist. Fastify's `handlerTimeout` would also count the time
 * in which the body arrives, and so refuse slow connections.
 */
export function answerInTime(fastify: FastifyInstance, answerMs: number): void {
  fastify.decorateRequest('answerTimer');
  // Node.js reads up to 48 × 1,024 connections before it runs timers. If thousands of clients are refused and retry at
  // once, answering them in that phase would delay every timer by many seconds; setImmediate answers them after it.
  fastify.addHook('onRequest', (_request, _reply, done) => void setImmediate(done));
  fastify.addHook('preHandler', (request, reply, done) => {
    const { isLongWork, waitsMs } = request.routeOptions.config;
    if (!isLongWork?.(request.body)) {
      const deadlineMs = answerMs + (waitsMs?.(request.body) ?? 0);
      const answer = () =>
        void reply.send(new Problem('OVERLOADED', { cause: new Error(`no answer within ${deadlineMs} ms`) }));
      request.answerTimer = setTimeout(answer, deadlineMs);
    }
    done();
  });
  const clearTimer: preSerializationHookHandler<unknown> = (request, _, payload, done) => {
    clearTimeout(request.answerTimer);
    done(null, payload);
  };
  // Objects pass preSerialization first, all other payloads only onSend.
  fastify.addHook('preSerialization', clearTimer);
  fastify.addHook('onSend', clearTimer);
}

/** Discards the result of a handler if the deadline has answered already. */
export class LateReplyAdapter extends FastifyAdapter {
  override reply(...args: Parameters<FastifyAdapter['reply']>): ReturnType<FastifyAdapter['reply']> {
    const [response] = args;
    return 'sent' in response && response.sent ? response : super.reply(...args);
  }
}
