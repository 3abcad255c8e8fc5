import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { HTTP_URL_RULE, isHttpUrl } from './http-url.js';
import { type FieldFault, Problem } from '../problems/problem.js';
import { TEXT_PATTERN } from './patterns.js';

type Schema = Record<string, unknown> & { readonly properties?: Record<string, Schema> };
type Input = Record<string, unknown>;

interface Validator {
  readonly validate: ValidateFunction;
  readonly schema: Schema;
}

/** Formats of requests. Those that are `true` the service checks itself, or the bounds beside them say it all. */
const FORMATS = {
  'country-code': true,
  'http-url': isHttpUrl,
  'idn-email': true,
  int32: true,
  int64: true,
  password: true,
  phone: true,
  uri: true,
  'uri-reference': true,
  uuid: true,
} as const;
const FORMAT_RULES: Readonly<Record<string, string>> = { 'http-url': HTTP_URL_RULE };
const TYPE_WORDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  object: 'a JSON object',
  string: 'text',
};

/**
 * Holds requests against the schemas of the OpenAPI document, so that the document can't promise what the service does
 * not keep: the decorators of a DTO are the one source of both. See docs/decisions/validation.md.
 */
export class ContractPipe implements PipeTransform {
  private readonly validators = new Map<string, Validator>();

  constructor(document: OpenAPIObject) {
    const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
    const ajv = new Ajv({ allErrors: true, strict: false, verbose: true, formats: FORMATS });
    const components = { schemas: lenient(schemas) };
    for (const [name, schema] of Object.entries(schemas)) {
      this.validators.set(name, {
        schema,
        validate: ajv.compile({ $ref: `#/components/schemas/${name}`, components }),
      });
    }
  }

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || metatype === undefined || metatype === Object) return value;
    const validator = this.validators.get(metatype.name);
    if (!validator) throw new Error(`${metatype.name} has no schema: name it in @ApiExtraModels on its controller`);
    const input = type === 'query' ? readQuery(value as Input, validator.schema) : readBody(value, validator.schema);
    if (!validator.validate(input)) throw Problem.invalid(faultsOf(validator.validate.errors ?? []));
    return input;
  }
}

/** What the service itself checks, because the rule depends on the waitlist, takes any value here. */
function lenient(schemas: Record<string, Schema>): Record<string, Schema> {
  return JSON.parse(JSON.stringify(schemas), (_, value: Schema | null) =>
    value?.['x-checked-by-service'] ? {} : value,
  ) as Record<string, Schema>;
}

/**
 * Only what the operation takes. Existing clients write `True` and `1`, plus signs that were not percent-encoded, and in a
 * body `true` for a text.
 */
function readQuery(query: Input, { properties = {} }: Schema): Input {
  const known = Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(properties, name)));
  return mapValues(known, (value, name) => {
    const property = properties[name];
    if (property?.type === 'string' && typeof value === 'boolean') return String(value);
    if (typeof value !== 'string') return value;
    if (property?.type === 'boolean')
      return /^(true|1)$/i.test(value) ? true : /^(false|0)$/i.test(value) ? false : value;
    if (property?.type === 'integer') return /^-?\d+$/.test(value) ? Number(value) : value;
    if (property?.['x-plus'] === 'within') return value.trim().replaceAll(' ', '+');
    if (property?.['x-plus'] === 'first') return value.replace(/^ (?=\d)/, '+');
    return value;
  });
}

/** Existing clients write some ids as text. */
function readBody(body: unknown, { properties = {} }: Schema): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return mapValues(body as Input, (value, name) =>
    properties[name]?.['x-numeric-string'] && typeof value === 'string' && /^\d{1,16}$/.test(value)
      ? Number(value)
      : value,
  );
}

function mapValues(input: Input, map: (value: unknown, name: string) => unknown): Input {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, map(value, name)]));
}

function faultsOf(errors: readonly ErrorObject[]): FieldFault[] {
  return errors.map((error) => ({ field: fieldOf(error), message: messageOf(error) }));
}

/** `/waiters/0/id` as people write it: `waiters[0].id`. */
function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.').replace(/^\./, ''); // prettier-ignore
  const missing = keyword === 'required' ? (params as { missingProperty: string }).missingProperty : '';
  return [path, missing].filter(Boolean).join('.') || 'body';
}

const BOUND_RULES: Readonly<Record<string, (limit: number) => string>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  minLength: (limit) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: (limit) => `must have at most ${limit} characters`,
  minItems: (limit) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} items`),
  maxItems: (limit) => `must have at most ${limit} items`,
};

function messageOf({ keyword, message, params, parentSchema }: ErrorObject): string {
  if (keyword === 'required') return 'is required';
  if (keyword === 'pattern' && parentSchema?.pattern === TEXT_PATTERN) return 'must not hold control characters';
  if (keyword === 'format') return FORMAT_RULES[(params as { format: string }).format] ?? 'must be of another form';
  if (keyword === 'type') return `must be ${TYPE_WORDS[(params as { type: string }).type] ?? 'of another type'}`;
  if (keyword === 'enum') return `must be ${(params as { allowedValues: unknown[] }).allowedValues.join(' or ')}`;
  const { limit } = params as { limit?: number };
  return (BOUND_RULES[keyword]?.(limit ?? 0) ?? message) || 'is invalid';
}
