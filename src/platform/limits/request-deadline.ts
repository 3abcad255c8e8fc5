import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, preSerializationHookHandler } from 'fastify';
import { Problem } from '../problems/problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request with this body, not validated yet, is exempt because its work grows with the waitlist. */
    isLongWork?: (body: unknown) => boolean;
  }
  interface FastifyRequest {
    answerTimer?: NodeJS.Timeout;
  }
}

/**
 * Answers 503 if a request has no answer `answerMs` after it arrived in full; each piece of work has its own, shorter
 * deadline, but they add up. The work goes on: repeating a signup or an offboarding is harmless, but repeating the
 * creation of a waitlist makes a second one. Fastify's `handlerTimeout` would also count the time in which the body
 * arrives, and so refuse slow connections.
 */
export function answerInTime(fastify: FastifyInstance, answerMs: number): void {
  fastify.decorateRequest('answerTimer');
  // Node.js reads up to 48 × 1,024 connections before it runs timers. If thousands of clients are refused and retry at
  // once, answering them in that phase would delay every timer by many seconds; setImmediate answers them after it.
  fastify.addHook('onRequest', (_request, _reply, done) => void setImmediate(done));
  fastify.addHook('preHandler', (request, reply, done) => {
    if (!request.routeOptions.config.isLongWork?.(request.body)) {
      const answer = () =>
        void reply.send(new Problem('OVERLOADED', { cause: new Error(`no answer within ${answerMs} ms`) }));
      // Only once: a request for an unknown file passes here again on its way to the 404 handler.
      request.answerTimer ??= setTimeout(answer, answerMs);
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
