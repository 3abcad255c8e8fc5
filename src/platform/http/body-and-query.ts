import { isUtf8 } from 'node:buffer';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'secure-json-parse';
import { percentDecoded } from '../contract/formats.js';
import { type FieldFault, Problem } from '../problems/problem.js';
import type { Rule } from '../problems/rule.js';
import { isRepeated } from './headers.js';

export const BODY_MAX_BYTES = 256 * 1024;
/** Far more than the contract needs, and safe for recursive functions. */
export const LEVELS_MAX = 64;
/** Ten times the largest body of the contract. Every value is visited before the caller is authenticated. */
export const VALUES_MAX = 20_000;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Overrides {@link BODY_MAX_BYTES} for a route. */
    bodyMaxBytes?: number;
    /** The fields of a JSON body stand in for missing query parameters. */
    bodyAsQuery?: boolean;
  }
}

/**
 * Reads JSON bodies in UTF-8. An empty body is no body, whatever the headers say. Any other content type, charset or
 * encoding is refused with 415, also where RFC 9112 asks for 501: the caller can fix it.
 */
export function readJsonBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    route.bodyLimit = route.config?.bodyMaxBytes ?? route.bodyLimit;
  });
  fastify.removeContentTypeParser(['application/json', 'text/plain']);
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      requirePlain(request);
      done(null, body.length === 0 ? undefined : parseJson(body, request));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

const names = new Set<string | symbol>();

/** A field that names what a public operation is about: it may stand in the query of a POST or in the body of a GET. */
export const InQueryOrBody = (): PropertyDecorator => (_, property) => void names.add(property);

/** Some existing scripts send a GET's parameters in a JSON body. The query wins. See also {@link InQueryOrBody}. */
export function readQueryFromBody(fastify: FastifyInstance): void {
  // Fastify ignores the body of a GET unless told otherwise.
  fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  fastify.addHook('preValidation', async (request) => {
    const { body, method } = request;
    const { bodyAsQuery, rateLimited } = request.routeOptions.config;
    // A text or a list would be spread into one parameter per item.
    if (!isPlainObject(body)) return;
    const query = request.query as object;
    if (bodyAsQuery) request.query = { ...body, ...query };
    else if (rateLimited === 'public' && method === 'POST') request.body = withNamesOf(query, body);
    else if (rateLimited === 'public') request.query = withNamesOf(body, query);
  });
}

/** The fields, with the names that they lack from `other`. */
function withNamesOf(other: object, fields: object): object {
  return { ...Object.fromEntries(Object.entries(other).filter(([name]) => names.has(name))), ...fields };
}

/** A query must be percent-encoded UTF-8. The router checks the path, but the query parser accepts anything. */
export function requireReadableQuery(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _, done) => {
    const { url } = request;
    const start = url.indexOf('?');
    if (start < 0 || !url.includes('%', start)) return done();
    request.faults = url
      .slice(start + 1)
      .split('&')
      .filter((parameter) => percentDecoded(parameter) === undefined)
      .map((parameter) => ({
        field: parameter.split('=', 1)[0] || 'query',
        rule: 'format' as const,
        message: 'must be percent-encoded UTF-8',
      }));
    done();
  });
}

function requirePlain(request: FastifyRequest): void {
  if (!isPlain(request)) throw new UnsupportedMediaTypeException();
}

/** Whether a body is in UTF-8 and not encoded, as far as the headers say. */
export function isPlain(request: FastifyRequest): boolean {
  const {
    'content-encoding': encoding = 'identity',
    'transfer-encoding': transfer = 'chunked',
    'content-type': type = '',
  } = request.headers;
  const isEncoded = encoding.toLowerCase() !== 'identity' || transfer.toLowerCase() !== 'chunked';
  return !isEncoded && !OTHER_CHARSET.test(type) && !isRepeated(request, 'content-type');
}

function parseJson(body: Buffer, request: FastifyRequest): unknown {
  if (!isUtf8(body)) throw malformed('format', 'must be JSON in UTF-8');
  let value: unknown;
  try {
    value = parse(body.toString('utf8')) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw malformed(
      'format',
      error.message.includes('prototype')
        ? 'must not hold the keys __proto__ or constructor.prototype'
        : 'must be JSON in UTF-8',
    );
  }
  const surrogates: FieldFault[] = [];
  requireStorable(value, '', 1, { left: VALUES_MAX, surrogates });
  request.faults = [...(request.faults ?? []), ...surrogates];
  return value;
}

interface Visit {
  /** Values that may still follow. */
  left: number;
  readonly surrogates: FieldFault[];
}

/**
 * Bounds levels and values, and collects lone surrogates: they are not Unicode, and no database returns them unchanged.
 * The recursion is safe because the levels are bounded first.
 */
function requireStorable(value: unknown, path: string, level: number, visit: Visit): void {
  if (typeof value === 'string' && !value.isWellFormed()) visit.surrogates.push(surrogateFault(path));
  if (typeof value !== 'object' || value === null) return;
  if (level > LEVELS_MAX) throw malformed('max_levels', `must have at most ${LEVELS_MAX} levels`);
  const isList = Array.isArray(value);
  // Count first: to list the entries of a huge list takes longer than to parse it.
  visit.left -= isList ? value.length : Object.keys(value).length;
  if (visit.left < 0) throw malformed('max_values', `must hold at most ${VALUES_MAX} values`);
  for (const [key, inner] of Object.entries(value)) {
    if (!key.isWellFormed()) visit.surrogates.push(surrogateFault(path, 'keys must not hold a lone surrogate'));
    const innerPath = isList ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    requireStorable(inner, innerPath, level + 1, visit);
  }
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function surrogateFault(path: string, message = 'must not hold a lone surrogate'): FieldFault {
  return { field: path || 'body', rule: 'characters', message };
}

function malformed(rule: Rule, message: string): Problem {
  return new Problem('MALFORMED_JSON', { detail: `The body ${message}.`, fields: [{ field: 'body', rule, message }] });
}
