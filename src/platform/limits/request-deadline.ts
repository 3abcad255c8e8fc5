import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, preSerializationHookHandler } from 'fastify';
import { Problem } from '../problems/problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request with this body, which nobody has checked yet, is work as long as its waitlist: answered when done. */
    isLongWork?: (body: unknown) => boolean;
  }
  interface FastifyRequest {
    answerTimer?: NodeJS.Timeout;
  }
}

/** Every piece of work has a deadline of its own; this one holds for what they add up to. */
class AnswerLateError extends Error {
  override readonly name = 'AnswerLateError';
}

/**
 * Answers a request by `answerMs` after all of it is there, with 503 where its work goes on. Fastify's own
 * `handlerTimeout` counts the time in which a body arrives too, and would refuse whoever has a slow line. The work goes on to
 * its own end, as after any answer that was lost: to sign up or offboard again does no harm, to make a waitlist again makes two.
 */
export function answerInTime(fastify: FastifyInstance, answerMs: number): void {
  fastify.decorateRequest('answerTimer');
  // Node.js reads from up to 48 times 1,024 connections before it looks at a timer. Thousands who are refused at once and ask
  // again at once would keep every timer waiting, for eleven seconds as measured; so nobody is answered within that reading.
  fastify.addHook('onRequest', (_request, _reply, done) => void setImmediate(done));
  fastify.addHook('preHandler', (request, reply, done) => {
    if (!request.routeOptions.config.isLongWork?.(request.body)) {
      const answer = () => void reply.send(overloaded(new AnswerLateError(`No answer within ${answerMs} ms`)));
      // Once: a request that nothing is found for comes by again, on its way to the answer that says so.
      request.answerTimer ??= setTimeout(answer, answerMs);
    }
    done();
  });
  const isAnswered: preSerializationHookHandler<unknown> = (request, _, payload, done) => {
    clearTimeout(request.answerTimer);
    done(null, payload);
  };
  // Of these two an answer passes the first, or where it is no object only the second: from there on it is under way.
  fastify.addHook('preSerialization', isAnswered);
  fastify.addHook('onSend', isAnswered);
}

/** Drops what a handler gives after its request was answered without it: there is nobody to tell, and nothing to warn of. */
export class PunctualAdapter extends FastifyAdapter {
  override reply(...args: Parameters<FastifyAdapter['reply']>): ReturnType<FastifyAdapter['reply']> {
    const [response] = args;
    return 'sent' in response && response.sent ? response : super.reply(...args);
  }
}

/** More is asked of this process than it takes on. */
export function overloaded(cause?: Error): Problem {
  return new Problem('OVERLOADED', { cause });
}
