import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RULES } from '../../src/platform/problems/rule.js';
import type { FieldFault } from '../../src/platform/problems/problem.js';
import { isForProgrammers, UNREADABLE, wordsOf, wordsOfAll } from '../../web/desk/fault-words.js';
import type { Method } from '../support/api.js';
import type { Schema } from '../support/contract.js';
import { type Service, startService } from '../support/service.js';

const DESK = new URL('../../web/desk/', import.meta.url);
/** What an owner can do nothing with. */
const CODE = /\^|\\|must match|undefined|[a-z]_[a-z]/i;
/** How far down objects and lists are broken. */
const DEPTH_MAX = 3;

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Sent {
  readonly method: Method;
  readonly path: string;
  readonly part: 'body' | 'query';
  readonly schema: Schema;
}

const { components, paths } = JSON.parse(
  readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'),
) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** The bodies and queries that the desk sends, as its source names them. */
function requestsOfDesk(): Sent[] {
  const calls = readdirSync(DESK, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
    .flatMap((file) => [
      ...readFileSync(new URL(file, DESK), 'utf8').matchAll(/\b(?:api|publicApi)\s*\.([A-Z]+)\(\s*'([^']+)'/g),
    ])
    .map(([, method, path]) => `${method} ${path}`);
  return [...new Set(calls)].flatMap((call) => {
    const [method, path] = call.split(' ') as [Method, string];
    const { parameters = [], requestBody } = paths[path]![method.toLowerCase()]!;
    const body = requestBody?.content['application/json']?.schema;
    const query = parameters.filter((parameter) => parameter.in === 'query');
    const properties = Object.fromEntries(query.map(({ name, schema }) => [name, schema]));
    return [
      ...(body ? [{ method, path, part: 'body' as const, schema: body }] : []),
      ...(query.length > 0 ? [{ method, path, part: 'query' as const, schema: { type: 'object', properties } }] : []),
    ];
  });
}

function resolved(schema: Schema): Schema {
  const inner = schema.allOf?.[0] ?? schema;
  return inner.$ref ? resolved(components.schemas[inner.$ref.split('/').at(-1)!]!) : inner;
}

/** Values that break each rule which the schema states, and some that break those which it doesn't. */
function badValues(given: Schema, depth = 0): unknown[] {
  const schema = resolved(given);
  const { minimum = 0, maximum = 9, maxLength = 9, maxItems = 9, items = {}, properties = {} } = schema;
  if (schema.type === 'integer' || schema.type === 'number') return ['x', null, minimum - 1, maximum + 1, 0.5];
  if (schema.type === 'boolean') return ['x', null, false];
  if (schema.type === 'array') {
    const lists = depth < DEPTH_MAX ? badValues(items, depth + 1).map((item) => [item]) : [];
    return ['x', null, [], ['a', 'a'], Array<string>(maxItems + 1).fill('a'), ...lists];
  }
  if (schema.type === 'object' || schema.properties) {
    const objects = depth < DEPTH_MAX ? Object.entries(properties) : [];
    return [
      'x',
      null,
      { unknown: 1 },
      { texts: 'a\0', deep: [[[[[[[[[[]]]]]]]]]], long: 'x'.repeat(20_000) },
      ...objects.flatMap(([name, inner]) => badValues(inner, depth + 1).map((value) => ({ [name]: value }))),
    ];
  }
  return [5, null, '', ' ', '!', 'example.com', 'http://10.0.0.1/é', 'a\u0001', 'x'.repeat(maxLength + 1)];
}

describe('what owners read of a fault', () => {
  let service: Service;
  const found = new Map<string, FieldFault>();
  const details = new Set<string>();

  beforeAll(async () => {
    service = await startService();
    const { api, world } = service;
    const waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }] });
    const { uuid } = await world.signup(waitlist);
    const other = await world.signup(waitlist);
    const { token } = waitlist.owner;
    const send = async (method: Method, path: string, values: object, part: Sent['part']) => {
      const at = path
        .replace('{waitlist_id}', String(waitlist.id))
        .replace('{uuid}', uuid)
        .replace(/\{(webhook_)?id\}/, '1');
      const query = part === 'query' ? (values as Record<string, string>) : {};
      const { status, body } = await api.call(method, at, part === 'body' ? values : undefined, { token, query });
      if (status < 400) return;
      details.add(body.detail as string);
      for (const fault of (body.errors ?? []) as FieldFault[])
        found.set(`${fault.field.replaceAll(/\[\d+\]/g, '[]')} ${fault.rule} ${fault.message}`, fault);
    };
    for (const { method, path, part, schema } of requestsOfDesk()) {
      if (method === 'DELETE') continue;
      const { properties = {} } = resolved(schema);
      for (const [name, inner] of Object.entries(properties))
        for (const value of badValues(inner)) {
          if (part === 'query' && (value === null || typeof value === 'object')) continue;
          await send(method, path, { [name]: value }, part);
        }
      if (part === 'body') await send(method, path, {}, part);
    }
    // What only the service knows.
    const patch = async (path: string, values: object) => send('PATCH', path, values, 'body');
    await patch('/api/v1/signup/{uuid}', { email: other.email });
    await patch('/api/v1/signup/{uuid}', { credit: 'refused' });
    for (const verification of ['required', 'optional'])
      await patch('/api/v1/waitlist/{waitlist_id}', { verification });
    await patch('/api/v1/waitlist/{waitlist_id}', { mails: { your_turn: { text: 'Dear {reader}' } } });
    await patch('/api/v1/waitlist/{waitlist_id}', { captcha: { provider: 'turnstile', site_key: 'a' } });
    await send('POST', '/api/v1/auth/password', { current_password: 'x', new_password: 'x'.repeat(20) }, 'body');
  });
  afterAll(() => service.stop());

  it('is a sentence without patterns and names of fields, for each field and rule of the desk’s requests', () => {
    // Owners type placeholders themselves.
    const words = (fault: FieldFault) => wordsOf(fault).replaceAll(/\{\w+\}/g, '…');
    const sentences = [...found.values()].map((fault) => `${fault.field} ${fault.rule} | ${words(fault)}`);

    expect(found.size).toBeGreaterThan(100);
    expect(sentences.filter((sentence) => CODE.test(sentence.split(' | ')[1]!))).toEqual([]);
    expect(sentences.filter((sentence) => !/ \| \P{Ll}.+[.?]$/u.test(sentence))).toEqual([]);
  });

  it('names a placeholder that a mail has not, and those that it has', () => {
    const fault = [...found.values()].find(({ message }) => message.includes('{reader}'))!;

    expect(wordsOf(fault)).toBe(
      '{reader} is no placeholder of this mail. You can use {first_name}, {place}, {waitlist_name}, {link}.',
    );
  });

  it('is known for each field that the service checks by a pattern', () => {
    const faults = [...found.values()].filter(({ message }) => isForProgrammers(message));

    expect(faults.map(({ field }) => field)).toEqual(expect.arrayContaining(['logo', 'your_turn_url']));
    expect(faults.filter((fault) => wordsOf(fault) === UNREADABLE).map(({ field }) => field)).toEqual([]);
  });

  it('holds no pattern whatever the service says', () => {
    for (const { field } of found.values())
      for (const rule of RULES)
        expect(wordsOf({ field, rule, message: String.raw`must match ^\d+$` })).not.toMatch(/[\\^]/);
    for (const detail of details)
      if (isForProgrammers(detail)) expect(wordsOfAll([...found.values()])).not.toMatch(/[\\^]/);
  });
});
