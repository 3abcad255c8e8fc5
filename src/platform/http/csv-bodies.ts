import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { FastifyInstance, onResponseHookHandler, preParsingHookHandler } from 'fastify';
import { askForBody } from '../limits/connections.js';
import { Problem } from '../problems/problem.js';
import { isPlain } from './body-and-query.js';

const CSV = /^\s*text\/csv\s*(?:;|$)/i;
const NO_CSV = 'The body must be CSV in UTF-8, sent as text/csv and without a Content-Encoding.';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is CSV, at most `bodyMaxBytes`; the handler reads it as a stream. */
    takesCsv?: boolean;
  }
}

/**
 * Lets routes with `takesCsv` read their bodies while these arrive. They take nothing else; no other route takes CSV.
 * Many clients send all of a body before they read the answer. So after a refusal the rest may arrive for `lingerMs`,
 * and is dropped: if the connection were closed at once, the client would get an error, not the answer.
 */
export function streamCsvBodies(fastify: FastifyInstance, lingerMs: number): void {
  const read: preParsingHookHandler = (request, _, __, done) => {
    const { headers, routeOptions } = request;
    const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
    if (isEmpty) return done();
    if (!CSV.test(headers['content-type'] ?? '') || !isPlain(request))
      return done(new Problem('UNSUPPORTED_MEDIA_TYPE', { detail: NO_CSV }));
    if (Number(headers['content-length'] ?? 0) > routeOptions.bodyLimit) return done(new Problem('BODY_TOO_LARGE'));
    done(null, Readable.from(bounded(request.raw, routeOptions.bodyLimit)));
  };
  const dropRest: onResponseHookHandler = ({ raw }, _, done) => {
    if (!raw.complete) {
      // Unlike resume(), this also works while the reader of the body has not stopped yet.
      raw.on('data', () => undefined);
      setTimeout(() => raw.complete || raw.destroy(), lingerMs).unref();
    }
    done();
  };
  // Hooks of these routes only: a global hook slows down every lookup.
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.takesCsv) return;
    route.preParsing = [route.preParsing ?? [], read].flat();
    route.onResponse = dropRest;
  });
  fastify.addContentTypeParser('text/csv', (request, payload, done) => {
    if (request.routeOptions.config.takesCsv) done(null, payload);
    else done(new UnsupportedMediaTypeException());
  });
}

/** @throws Problem `BODY_TOO_LARGE`; `MALFORMED_REQUEST` for a body that ends too early */
async function* bounded(request: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  askForBody(request);
  try {
    // Its destruction would close the connection before the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new Problem('BODY_TOO_LARGE');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('MALFORMED_REQUEST', { cause: error });
  }
}
