import { isUtf8 } from 'node:buffer';
import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { percentDecoded } from '../contract/formats.js';
import type { FieldFault } from '../problems/problem.js';
import { isPlain } from './body-and-query.js';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const FORM = new RegExp(String.raw`^\s*${FORM_TYPE}\s*(?:;|$)`, 'i');
/** The form of a page has fifteen fields. The others are for metadata. */
const FIELDS_MAX = 200;
/** `metadata[plan]` */
const MEMBER = /^([^[\]]+)\[([^[\]]*)\]$/;

/** A value of a form; a list where its name was given more than once. */
type FormValue = string | string[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may be a form: the operation does the same for a page of any origin, with or without a script. */
    takesForms?: boolean;
  }
  interface FastifyRequest {
    /** The fields of a form as they were named. */
    form?: ReadonlyMap<string, FormValue>;
  }
}

/**
 * Lets routes with `takesForms` read forms, as JSON: `a=1` is `{"a": "1"}`, `a[b]=1` is `{"a": {"b": "1"}}`, a repeated
 * name has a list. No other route takes forms, so a page of another origin cannot submit a login form.
 */
export function readFormBodies(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (!request.routeOptions.config.takesForms || !isPlain(request) || !isUtf8(body))
      return done(new UnsupportedMediaTypeException(), undefined);
    const { form, faults } = parseForm(body.toString('utf8'));
    request.form = form;
    request.faults = [...(request.faults ?? []), ...faults];
    done(null, nested(form));
  });
}

/** Whether a page without a script sent the request: then its answer is a page. */
export function isFromPage({ headers, routeOptions }: FastifyRequest): boolean {
  const isForm = FORM.test(headers['content-type'] ?? '');
  return Boolean(routeOptions.config.takesForms) && isForm && /\btext\/html\b/i.test(headers.accept ?? '');
}

function parseForm(body: string): { form: Map<string, FormValue>; faults: FieldFault[] } {
  const form = new Map<string, FormValue>();
  const faults: FieldFault[] = [];
  const parts = body.split('&', FIELDS_MAX + 1).filter((part) => part !== '');
  if (parts.length > FIELDS_MAX)
    faults.push({ field: 'body', rule: 'max_values', message: `must have at most ${FIELDS_MAX} fields` });
  for (const part of parts.slice(0, FIELDS_MAX)) {
    const [encodedName = '', ...rest] = part.split('=');
    const [name, value] = [encodedName, rest.join('=')].map((side) => percentDecoded(side.replaceAll('+', ' ')));
    if (name === undefined || value === undefined || name.includes('__proto__')) {
      const message = 'must be percent-encoded UTF-8, and not __proto__';
      faults.push({ field: name ?? encodedName, rule: 'format', message });
      continue;
    }
    // Browsers send every line break of a form as CRLF, and of JSON as LF.
    const text = value.replaceAll('\r\n', '\n');
    const earlier = form.get(name);
    form.set(name, earlier === undefined ? text : [earlier, text].flat());
  }
  return { form, faults };
}

/** If a name is given both alone and with members, the members win. */
function nested(form: ReadonlyMap<string, FormValue>): Record<string, unknown> {
  const fields = new Map<string, FormValue | Map<string, FormValue>>();
  for (const [name, value] of form) {
    const [, outer, key] = MEMBER.exec(name) ?? [];
    if (outer === undefined || key === undefined) {
      if (!fields.has(name)) fields.set(name, value);
      continue;
    }
    const members = fields.get(outer);
    if (members instanceof Map) members.set(key, value);
    else fields.set(outer, new Map([[key, value]]));
  }
  return Object.fromEntries(
    Array.from(fields, ([name, value]) => [name, value instanceof Map ? Object.fromEntries(value) : value]),
  );
}
