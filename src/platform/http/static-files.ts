import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export const HTML = 'text/html; charset=utf-8';
export const JAVASCRIPT = 'text/javascript; charset=utf-8';
export const CSS = 'text/css; charset=utf-8';
export const JSON_TYPE = 'application/json; charset=utf-8';
export const SVG = 'image/svg+xml';

/** For a URL that contains the hash of its content. */
const FOREVER = 'public, max-age=31536000, immutable';

/** A file that stays the same as long as the service runs. */
interface StaticFile {
  /** The media type. */
  readonly type: string;
  readonly text: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Serves a file at a path, for ever under a URL whose parameter `v` is its hash. Returns the hash. */
export function serveFile(fastify: FastifyInstance, path: string, file: StaticFile): string {
  const { hash, send } = prepareFile(file);
  fastify.get<{ Querystring: { v?: string } }>(path, { exposeHeadRoute: true }, async (request, reply) =>
    // In an upgrade, a replica of another version may answer; its file must not be cached under the URL's hash.
    send(request, reply, request.query.v === hash),
  );
  return hash;
}

/**
 * Compresses at the first request and keeps the result: to compress 1.5 MB for each request would let strangers use up
 * the processor. `isFinal` says that the URL of the request never leads to another content.
 */
export function prepareFile({ type, text, headers }: StaticFile) {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  const etag = `W/"${hash}"`;
  let compressed: Promise<Buffer> | undefined;
  return {
    hash,
    send: async (request: FastifyRequest, reply: FastifyReply, isFinal: boolean): Promise<FastifyReply> => {
      const cached = isFinal ? FOREVER : 'no-cache';
      reply.headers({ 'cache-control': cached, ...headers, etag, vary: 'accept-encoding' }).type(type);
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
      if (!/\bgzip\b/.test(String(request.headers['accept-encoding']))) return reply.send(text);
      compressed ??= promisify(gzip)(text);
      return reply.header('content-encoding', 'gzip').send(await compressed);
    },
  };
}
