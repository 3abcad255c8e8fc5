import { isUtf8 } from 'node:buffer';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { visit } from 'jsonc-parser';
import { parse } from 'secure-json-parse';
import { Problem } from '../problems/problem.js';
import { isRepeated } from './repeated-header.js';

/** Far beyond any body of the contract, and what a recursive reader takes without a thought. */
const LEVELS_MAX = 64;
/** Ten times the values of the largest body of the contract: each is looked at, and nobody has shown a token yet. */
const VALUES_MAX = 20_000;
/** What a surrogate looks like in JSON; most bodies hold none, and need no second look. */
const SUSPECT = /\\ud[89a-f]/i;
/** How each key ends; a text can hold the same, but no key goes without. */
const KEY_END = /"\s*:/g;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

/**
 * Reads JSON bodies: UTF-8, no `__proto__`, no key twice in an object, no text with a lone surrogate, which is no
 * Unicode and which no database gives back as it came. An empty body is none, whatever the headers say. Any other
 * content type, charset or coding is refused (415, also where RFC 9112 would have 501: it is the caller who can mend it).
 */
export function readJsonBodies(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser(['application/json', 'text/plain']);
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      requirePlain(request);
      done(null, body.length === 0 ? undefined : parseJson(body));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

function requirePlain(request: FastifyRequest): void {
  const {
    'content-encoding': coding = 'identity',
    'transfer-encoding': transfer = 'chunked',
    'content-type': type = '',
  } = request.headers;
  const isCoded = coding.toLowerCase() !== 'identity' || transfer.toLowerCase() !== 'chunked';
  if (isCoded || OTHER_CHARSET.test(type) || isRepeated(request, 'content-type'))
    throw new UnsupportedMediaTypeException();
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
  const keys = measure(value);
  if (SUSPECT.test(text)) requireWholeText(value);
  // Of two equal keys the value holds one.
  if ((text.match(KEY_END)?.length ?? 0) > keys) requireKeysOnce(text);
  return value;
}

/** Counts the keys, and holds depth and values to their bounds; level by level, so that depth can't exhaust the stack. */
function measure(body: unknown): number {
  let keys = 0;
  let values = 0;
  let level = [body].filter(isContainer);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > LEVELS_MAX) throw malformed(`must have at most ${LEVELS_MAX} levels`);
    const next: object[] = [];
    for (const container of level) {
      const inner: unknown[] = Array.isArray(container) ? container : Object.values(container);
      if (inner !== container) keys += inner.length;
      values += inner.length;
      if (values > VALUES_MAX) throw malformed(`must hold at most ${VALUES_MAX} values`);
      for (const value of inner) if (isContainer(value)) next.push(value);
    }
    level = next;
  }
  return keys;
}

/** Readers differ in which of two values they take: what a proxy has checked must be what we store. */
function requireKeysOnce(text: string): void {
  const open: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => {
      open.push(new Set());
    },
    onObjectProperty: (key, _offset, _length, _line, _character, pathOfObject) => {
      const keys = open.at(-1);
      if (keys?.has(key)) throw fault([...pathOfObject(), key].reduce<string>(within, ''), 'must be given once');
      keys?.add(key);
    },
    onObjectEnd: () => {
      open.pop();
    },
  });
}

function requireWholeText(body: unknown): void {
  const stack: { readonly path: string; readonly value: unknown }[] = [{ path: '', value: body }];
  for (let item = stack.pop(); item; item = stack.pop()) {
    const { path, value } = item;
    if (typeof value === 'string' && !value.isWellFormed()) throw fault(path, WHOLE_TEXT_RULE);
    if (!isContainer(value)) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (!key.isWellFormed()) throw fault(path, `keys ${WHOLE_TEXT_RULE}`);
      stack.push({ path: within(path, Array.isArray(value) ? Number(key) : key), value: inner });
    }
  }
}

const WHOLE_TEXT_RULE = 'must not hold a lone surrogate';

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** `waiters[0].id` */
function within(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path ? `${path}.${step}` : step;
}

function fault(path: string, message: string): Problem {
  return Problem.invalid([{ field: path || 'body', message }]);
}

function malformed(message: string): Problem {
  return new Problem('MALFORMED_JSON', { detail: `The body ${message}.`, fields: [{ field: 'body', message }] });
}
