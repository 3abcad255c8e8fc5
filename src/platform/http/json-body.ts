import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { parse } from 'secure-json-parse';
import { Problem } from '../problem.js';

/** What a surrogate looks like in JSON; most bodies hold none, and need no second look. */
const SUSPECT = /\\ud[89a-f]/i;

/**
 * Reads JSON bodies: UTF-8, no `__proto__`, no text with a lone surrogate, which is no Unicode and which no database
 * gives back as it came. An empty body is none, whatever the headers say. Any other content type is refused (415).
 */
export function readJsonBodies(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser(['application/json', 'text/plain']);
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, body.length === 0 ? undefined : parseJson(body));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw malformed('must be JSON in UTF-8');
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError && error.message.includes('prototype')) {
      throw malformed('must not hold the keys __proto__ or constructor.prototype');
    }
    if (error instanceof SyntaxError) throw malformed('must be JSON in UTF-8');
    throw error;
  }
  if (SUSPECT.test(text)) requireWholeText(value);
  return value;
}

/** Walks without recursion, so that depth can't exhaust the stack. */
function requireWholeText(body: unknown): void {
  const stack: { readonly path: string; readonly value: unknown }[] = [{ path: '', value: body }];
  for (let item = stack.pop(); item; item = stack.pop()) {
    const { path, value } = item;
    if (typeof value === 'string' && !value.isWellFormed())
      throw Problem.invalid([{ field: path || 'body', message: WHOLE_TEXT_RULE }]);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (!key.isWellFormed()) throw Problem.invalid([{ field: path || 'body', message: `keys ${WHOLE_TEXT_RULE}` }]);
      stack.push({ path: Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key, value: inner });
    }
  }
}

const WHOLE_TEXT_RULE = 'must not hold a lone surrogate';

function malformed(message: string): Problem {
  return new Problem('invalid', 'MALFORMED_JSON', `The body ${message}.`, { fields: [{ field: 'body', message }] });
}
