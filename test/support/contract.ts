import { readFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly text: string;
}

interface Described {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema: object;
        readonly examples?: Readonly<Record<string, { readonly value: { error_code: string } }>>;
      }
    >
  >;
}

/** What the HTTP machinery answers before any operation is reached; the document says so in prose. */
const OUTSIDE_OPERATIONS = new Set([405, 408, 414, 431]);

const document = JSON.parse(
  readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'),
) as OpenAPIObject;
const ajv = new Ajv({
  allErrors: true,
  strict: false,
  formats: { 'idn-email': true, int32: true, int64: true, phone: true },
});
formats.default(ajv, ['uuid', 'uri', 'uri-reference']);
ajv.addSchema(document, 'contract');

const validators = new Map<string, ValidateFunction>();
const paths = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/**
 * Throws where an answer is not what the document promises: a status it does not name, a body or header of another
 * form, an error code without an example. Every call of the tests passes here, so that tests and document can't drift.
 */
export function holdToContract(method: string, url: string, answer: Answer): void {
  const [asked = ''] = url.split('?', 1);
  const path = paths.find(({ pattern }) => pattern.test(asked))?.path;
  if (path === undefined || OUTSIDE_OPERATIONS.has(answer.status)) return;
  const operations = document.paths[path] as Record<string, { responses: Record<string, Described> } | undefined>;
  const responses = operations[method.toLowerCase()]?.responses;
  if (responses === undefined) return;
  const where = `${method} ${path} ${answer.status}`;
  const described = responses[String(answer.status)];
  if (!described) throw new Error(`${where}: the contract does not name this status\n${answer.text}`);
  checkHeaders(where, described, answer);
  checkBody(where, described, answer);
}

function checkHeaders(where: string, { headers = {} }: Described, answer: Answer): void {
  for (const [name, { $ref }] of Object.entries(headers)) {
    const value = answer.headers[name.toLowerCase()];
    const header = document.components?.headers?.[$ref.split('/').at(-1) ?? ''];
    if (header === undefined || '$ref' in header) throw new Error(`${where}: ${$ref} is not in the document`);
    if (value === undefined) {
      if (header.required) throw new Error(`${where}: the header ${name} is missing`);
      continue;
    }
    const isNumber = (header.schema as { type?: string }).type === 'integer';
    check(`${where} ${name}`, $ref + '/schema', isNumber ? Number(value) : value);
  }
}

function checkBody(where: string, { content }: Described, answer: Answer): void {
  if (!content) {
    if (answer.text !== '') throw new Error(`${where}: the contract promises no body`);
    return;
  }
  const [type = '', { schema, examples }] = Object.entries(content)[0] ?? ['', { schema: {} }];
  if (!String(answer.headers['content-type']).startsWith(type)) throw new Error(`${where}: must be ${type}`);
  check(where, schema, answer.body);
  const code = (answer.body as { error_code?: string }).error_code;
  if (examples && code !== undefined && !(code in examples))
    throw new Error(`${where}: the contract has no example of ${code}`);
}

function check(where: string, schema: object | string, value: unknown): void {
  const key = typeof schema === 'string' ? schema : JSON.stringify(schema);
  let validate = validators.get(key);
  if (!validate) {
    const text = (typeof schema === 'string' ? JSON.stringify({ $ref: schema }) : key).replaceAll('"#/', '"contract#/');
    validate = ajv.compile(JSON.parse(text) as object);
    validators.set(key, validate);
  }
  if (!validate(value)) {
    throw new Error(`${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
  }
}
