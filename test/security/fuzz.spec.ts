import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { Method } from '../support/api.js';
import type { Schema } from '../support/contract.js';
import { SEED } from '../support/seed.js';
import { type Service, startService } from '../support/service.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
jest.setTimeout(240_000 + RUNS * 50);

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: Schema } } };
}
interface Request {
  readonly method: Method;
  readonly path: string;
  readonly raw: string | undefined;
  readonly headers: Record<string, string>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
const DOCUMENTS = new URL('../../openapi/', import.meta.url);
const documents = readdirSync(DOCUMENTS).map(
  (name) => JSON.parse(readFileSync(new URL(name, DOCUMENTS), 'utf8')) as Document,
);
/** A schema of several documents is the same in all of them. */
const schemas = Object.assign({}, ...documents.map(({ components }) => components.schemas)) as Record<string, Schema>;
const operations = documents.flatMap(({ paths }) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase() as Method, operation })),
  ),
);

const TEXT_MAX = 300;
const ITEMS_MAX = 4;
/** Text that has broken other services. */
const HOSTILE_TEXT = [
  ...['', ' ', '\0', '\r\n', '\u001b[2J', '\ufeff', '\u202e', '\ud800', '😀', 'ﷺ'],
  ...['%00', '%', '../', '{{7*7}}', '${x}'],
  ...['null', 'undefined', 'NaN', 'true', '0', '-1', '-0', '1e999', '9007199254740993', '__proto__', 'constructor'],
  ...["' OR 1=1 --", '"; DROP TABLE waiter; --', '<script>', '2026-11-21_00-00-00', 'a@b.co', '+14155550123'],
];
const scalar = fc.oneof(
  fc.constantFrom<unknown>(...HOSTILE_TEXT, null, true, 0, -1, 1.5, 2 ** 53, Number.MAX_VALUE, -0),
  fc.string({ unit: 'binary', maxLength: TEXT_MAX }),
);
const junk = fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) });

/** A value that fits the schema in most of its parts. */
function nearly(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: sound(schema) }, { weight: 1, arbitrary: junk });
}

function sound(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.$ref) return sound(schemas[schema.$ref.split('/').at(-1)!]!);
  if (schema.allOf) return sound(schema.allOf[0]!);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(sound));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return object(schema);
    case 'array':
      return fc.array(nearly(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX) + 1 });
    case 'integer':
      return fc.integer({ min: schema.minimum, max: Math.min(schema.maximum ?? 100, 2 ** 31 - 1) });
    case 'boolean':
      return fc.boolean();
    case 'string':
      return text(schema);
    default:
      return junk;
  }
}

function object({ properties, required = [] }: Schema): fc.Arbitrary<unknown> {
  if (!properties) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: ITEMS_MAX });
  const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, nearly(schema)]));
  const known = fc.record(fields, { requiredKeys: [...required] });
  const unknown = fc.dictionary(fc.constantFrom(...HOSTILE_TEXT, 'verified', 'priority', 'id'), junk, { maxKeys: 2 });
  return fc.tuple(known, unknown).map(([one, other]) => ({ ...other, ...(one as object) }));
}

function text({ format, example, minLength = 0, maxLength = TEXT_MAX }: Schema): fc.Arbitrary<unknown> {
  const length = { minLength, maxLength: Math.min(maxLength, TEXT_MAX) };
  const typical = format === 'idn-email' ? fc.emailAddress() : format === 'http-url' ? fc.webUrl() : fc.string(length);
  return fc.oneof(typical, fc.constant(example ?? 'x'), fc.string({ ...length, unit: 'grapheme' }));
}

/** JSON with a piece cut out, doubled or replaced. */
function broken(json: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(json.length), fc.nat(12), fc.constantFrom('', '"', '{', '[', ':', ',', '\\u', '\0', '"a":1,"a":2,'))
    .map(([start, length, piece]) => json.slice(0, start) + piece + json.slice(start + length));
}

describe('every operation', () => {
  let service: Service;
  let requests: fc.Arbitrary<Request>;
  beforeAll(async () => {
    // A stream of events never ends; test/http/live.spec.ts has it.
    service = await startService({ environment: { LIVE_CONNECTIONS: '0' } });
    const { world } = service;
    const waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }] });
    const foreign = await world.waitlist();
    await world.signups(waitlist, 3);
    requests = fc
      .constantFrom(...operations)
      .chain((operation) => requestTo(operation, { waitlist, foreign: foreign.id, token: waitlist.owner.token }));
  });
  afterAll(() => service.stop());

  it(`answers random requests as the contract says, and never with a 5xx (${RUNS} requests, seed ${SEED})`, async () => {
    let succeeded = 0;
    await fc.assert(
      fc.asyncProperty(requests, async ({ method, path, raw, headers }) => {
        const { status } = await service.api.call(method, path, undefined, { raw, headers });
        expect(status).toBeLessThan(500);
        if (status < 300) succeeded += 1;
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
    // About 12 % succeed. Requests that all failed validation would not test the code behind it.
    expect(succeeded).toBeGreaterThan(RUNS / 50);
  });
});

function requestTo(
  { path, method, operation }: (typeof operations)[number],
  known: {
    readonly waitlist: { readonly id: number; readonly api_key: string };
    readonly foreign: number;
    readonly token: string;
  },
): fc.Arbitrary<Request> {
  const { waitlist, foreign, token } = known;
  // The waitlist of the other requests keeps its row and its key.
  const isFinal = method === 'DELETE' || path.endsWith('/api_key');
  const id = fc.oneof(fc.constantFrom<unknown>(isFinal ? foreign : waitlist.id, foreign), scalar);
  const named: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    api_key: fc.oneof({ weight: 9, arbitrary: fc.constant(waitlist.api_key) }, { weight: 1, arbitrary: junk }),
    waitlist_id: fc.oneof({ weight: 9, arbitrary: fc.constant(waitlist.id) }, { weight: 1, arbitrary: junk }),
  };
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const query = fc.record(
    Object.fromEntries(parameters.map(({ name, schema }) => [name, named[name] ?? nearly(schema)])),
    { requiredKeys: parameters.map(({ name }) => name).filter((name) => name in named) },
  );
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema ? fc.tuple(nearly(schema), fc.record(named)) : fc.constant(undefined);
  const raw = body.chain((drawn) => {
    if (drawn === undefined) return fc.constant(undefined);
    const [value, own] = drawn;
    const fields = Object.fromEntries(Object.entries(own).filter(([name]) => isFieldOf(value, name)));
    const json = JSON.stringify(isFieldOf(value) ? { ...value, ...fields } : value);
    return fc.oneof({ weight: 9, arbitrary: fc.constant(json) }, { weight: 1, arbitrary: broken(json) });
  });
  const tail = fc.oneof(
    { weight: 9, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('&%', '&%ff=1', '&waitlist_id=1', '&api_key=', '&&', '&=', '?', '&a[]=1') },
  );
  // Without any, `GET /api/v1/waiter` is the lookup of an earlier generation.
  const credentials = fc.constantFrom<Record<string, string>>(
    { authorization: `Bearer ${token}` },
    { authorization: 'Bearer x' },
    {},
  );
  return fc.record({ id, query, raw, tail, authorization: credentials }).map((drawn) => ({
    method,
    path: `${path.replace(/\{\w+\}/, encodeURIComponent(textOf(drawn.id)))}?${new URLSearchParams(
      Object.entries(drawn.query).map(([name, value]): [string, string] => [name, textOf(value)]),
    ).toString()}${drawn.tail}`,
    raw: drawn.raw,
    headers: {
      ...(drawn.raw !== undefined && { 'content-type': 'application/json' }),
      ...drawn.authorization,
    },
  }));
}

/** Whether the value is an object and has the field. */
function isFieldOf(value: unknown, name?: string): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && (name === undefined || name in value);
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
}
