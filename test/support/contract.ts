import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

/** The keywords of the document's schemas that random requests are drawn from. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly nullable?: boolean;
  readonly format?: string;
  readonly example?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

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

/** Statuses that the server sends before routing; the document describes them in prose. */
const OUTSIDE_OPERATIONS = new Set([405, 408, 414, 431]);
/** Every failure outside of the operations has this form. */
const PROBLEM = {
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  headers: {
    'x-request-id': { $ref: '#/components/headers/x-request-id' },
    'Cache-Control': { $ref: '#/components/headers/Cache-Control' },
  },
} as const satisfies Described;

type Operations = Record<string, Operation | undefined>;
interface Operation {
  readonly deprecated?: boolean;
  readonly responses: Record<string, Described | { readonly $ref: string }>;
}

/** One document of the contract, with its checked schemas. */
class Contract {
  readonly document: OpenAPIObject;
  private readonly paths: readonly { readonly path: string; readonly pattern: RegExp }[];
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(private readonly file: string) {
    // Closed objects: a field that the document does not name was published by mistake.
    this.document = JSON.parse(
      readFileSync(new URL(`../../openapi/${file}`, import.meta.url), 'utf8'),
      (_, value: { properties?: object } | null) =>
        value?.properties ? { additionalProperties: false, ...value } : value,
    ) as OpenAPIObject;
    this.paths = Object.keys(this.document.paths).map((path) => ({
      path,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }));
    ajv.addSchema(this.document, file);
  }

  /** The pattern of the path, and its operation; undefined where the document has none. */
  find(method: string, asked: string): { readonly path?: string; readonly operation?: Operation } {
    // The service accepts trailing and doubled slashes.
    const path = this.paths.find(({ pattern }) => pattern.test(asked.replaceAll(/\/+/g, '/').replace(/\/$/, '')))?.path;
    const operations = this.document.paths[path ?? ''] as Operations | undefined;
    return { path, operation: operations?.[method.toLowerCase()] };
  }

  /** The response itself, or the shared one that it refers to. */
  resolve(response: Described | { readonly $ref: string } | undefined): Described | undefined {
    if (response === undefined || !('$ref' in response)) return response;
    return this.document.components?.responses?.[response.$ref.split('/').at(-1) ?? ''] as Described | undefined;
  }

  checkHeaders(where: string, { headers = {} }: Described, answer: Answer): void {
    for (const [name, { $ref }] of Object.entries(headers)) {
      const value = answer.headers[name.toLowerCase()];
      const header = this.document.components?.headers?.[$ref.split('/').at(-1) ?? ''];
      if (header === undefined || '$ref' in header) throw new Error(`${where}: ${$ref} is not in the document`);
      if (value === undefined) {
        if (header.required) throw new Error(`${where}: the header ${name} is missing`);
        continue;
      }
      const isNumber = (header.schema as { type?: string }).type === 'integer';
      // Several cookies are a list.
      for (const one of [value].flat()) this.check(`${where} ${name}`, $ref + '/schema', isNumber ? Number(one) : one);
    }
  }

  checkBody(where: string, { content }: Described, answer: Answer): void {
    if (!content) {
      if (answer.text !== '') throw new Error(`${where}: the contract promises no body`);
      return;
    }
    const given = String(answer.headers['content-type']);
    const described = Object.entries(content).find(([type]) => given.startsWith(type));
    if (!described) throw new Error(`${where}: must be ${Object.keys(content).join(' or ')}`);
    const [, { schema, examples }] = described;
    this.check(where, schema, answer.body ?? answer.text);
    const code = (answer.body as { error_code?: string } | undefined)?.error_code;
    if (code === undefined) return;
    if (examples && !(code in examples)) throw new Error(`${where}: the contract has no example of ${code}`);
    checkProblem(where, code, answer);
  }

  private check(where: string, schema: object | string, value: unknown): void {
    const key = typeof schema === 'string' ? schema : JSON.stringify(schema);
    let validate = this.validators.get(key);
    if (!validate) {
      const text = typeof schema === 'string' ? JSON.stringify({ $ref: schema }) : key;
      validate = ajv.compile(JSON.parse(text.replaceAll('"#/', `"${this.file}#/`)) as object);
      this.validators.set(key, validate);
    }
    if (!validate(value)) {
      throw new Error(`${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
    }
  }
}

const ajv = new Ajv({
  allErrors: true,
  strict: false,
  // The linters of the contract check the schemas themselves.
  meta: false,
  validateSchema: false,
  formats: { 'idn-email': true, int32: true, int64: true, phone: true, binary: true },
});
// Clients must accept other values; the service itself must list the values that it sends.
// The type says whether null is one.
ajv.addKeyword({ keyword: 'x-extensible-enum', macro: (values: readonly unknown[]) => ({ enum: [...values, null] }) });
formats.default(ajv, ['uuid', 'uri', 'uri-reference', 'date', 'date-time']);
const current = new Contract('openapi.json');
const legacy = new Contract('legacy.json');
/**
 * Where failures are pages, which no document describes: the pages themselves, and the operation that takes their
 * forms.
 */
const PAGES = /^\/(?:waitlist\/.*|api\/v1\/signup)$/;
/** An unknown path below it is data to everybody; any other is a page to browsers. */
const API = /\/api(?:\/|$)/;
/**
 * The query of a request for the public view of a waitlist, whose path and method list an owner's waitlists without it.
 */
const NAMES_WAITLIST = /[?&](?:waitlist_id|api_key)=/;

/**
 * Throws if an answer breaks its document: an undocumented status, a body or header that does not match its schema, an
 * error code without an example. Every call of the tests passes here, so tests and documents cannot drift apart.
 */
export function holdToContract(method: string, url: string, answer: Answer): void {
  const [asked = ''] = url.split('?', 1);
  const contract = isLegacy(method, asked, url, answer) ? legacy : current;
  const { path, operation } = contract.find(method, asked);
  const where = `${method} ${path ?? asked} ${answer.status}`;
  const isUnknown = path === undefined && answer.status === 404 && !API.test(asked);
  if ((isUnknown || PAGES.test(path ?? asked)) && String(answer.headers['content-type']).startsWith('text/html'))
    return;
  if (operation === undefined || OUTSIDE_OPERATIONS.has(answer.status)) {
    if (answer.status < 400) return;
    contract.checkHeaders(where, PROBLEM, answer);
    if (method !== 'HEAD') contract.checkBody(where, PROBLEM, answer);
    return;
  }
  const isDeprecated = operation.deprecated === true;
  if (isDeprecated !== (answer.headers.deprecation !== undefined))
    throw new Error(`${where}: must ${isDeprecated ? '' : 'not '}have the header Deprecation`);
  const described = contract.resolve(operation.responses[String(answer.status)]);
  if (!described) throw new Error(`${where}: the contract does not name this status\n${answer.text}`);
  contract.checkHeaders(where, described, answer);
  for (const name of Object.keys(contract.document.components?.headers ?? {})) {
    if (answer.headers[name.toLowerCase()] !== undefined && !(name in (described.headers ?? {})))
      throw new Error(`${where}: the contract does not name the header ${name} here`);
  }
  contract.checkBody(where, described, answer);
}

/** Where both documents have an operation of this path and method, a header or the query tells which one answered. */
function isLegacy(method: string, asked: string, url: string, { headers }: Answer): boolean {
  const { operation } = legacy.find(method, asked);
  if (!operation || !current.find(method, asked).operation) return operation !== undefined;
  return operation.deprecated ? headers.deprecation !== undefined : NAMES_WAITLIST.test(url);
}

/** The fields that existing clients read repeat those of RFC 9457. */
function checkProblem(where: string, code: string, { status, headers, body, text }: Answer): void {
  const { detail, errors = [] } = body as { detail: string; errors?: { field: string }[] };
  const type = `/docs/errors#${code.toLowerCase()}`;
  const repeated = { type, status, instance: headers['x-request-id'], error_string: detail, message: detail };
  if (!isDeepStrictEqual(body, { ...(body as object), ...repeated }))
    throw new Error(`${where}: the fields of the problem contradict each other\n${text}`);
  if (new Set(errors.map(({ field }) => field)).size < errors.length)
    throw new Error(`${where}: two faults of one field\n${text}`);
}
