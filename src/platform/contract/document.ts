import { readFileSync } from 'node:fs';
import { type INestApplication, SetMetadata, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { openEnum } from './formats.js';
import { strictSchemas } from './request.js';
import {
  GUARD_PROBLEM_CODES,
  PROBLEM_CODES,
  problemResponses,
  sharedProblemResponses,
} from '../problems/api-problems.js';
import { ProblemDto } from '../problems/problem.dto.js';
import type { ProblemCode } from '../problems/problem-catalog.js';
import { VERSION } from '../config/version.js';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type Components = NonNullable<OpenAPIObject['components']>;

/**
 * The documents of the contract. Earlier generations have their own: generated clients leave them out, and a path and
 * method can be in both.
 */
export const DOCUMENTS = {
  current: {
    file: 'openapi.json',
    url: '/openapi.json',
    title: 'Waitlist Service',
    description: 'description.md',
    // In the order in which a member needs them.
    tags: [
      ['Auth', 'Log in with an email and a password, renew the login, and set up a second factor.'],
      ['Session', 'Log in with a browser, and list and end logins.'],
      ['Waitlist', 'Configure waitlists. For members and account keys, except for the public view.'],
      ['Signup', 'Join a waitlist and look up a position. Public: any page may call these without a token.'],
      ['Waiter', 'List, correct, move, offboard and erase the Waiters of a waitlist. For members and account keys.'],
      [
        'Offer',
        'Offer seats to the first in the queue, check the codes of offers, and bring people back. For members and account keys.',
      ],
      [
        'Webhook',
        'Send the events of a waitlist to other systems, and see what was delivered. For members and account keys.',
      ],
      ['Account', 'The account that owns the waitlists.'],
      ['Member', 'Who logs in to the account, and their roles.'],
      ['Account key', 'Keys for programs, in place of a login.'],
      ['Audit', 'List changes and security events.'],
    ],
    moreHeaders: [],
  },
  legacy: {
    file: 'legacy.json',
    url: '/openapi-legacy.json',
    title: 'Waitlist Service: earlier generations',
    description: 'description-legacy.md',
    tags: [
      ['Second generation', 'Waiters where the current operations have signups. Public.'],
      ['First generation', 'Waitlists named by their key, and people by their email. Public.'],
    ],
    moreHeaders: ['Deprecation', 'Link'],
  },
} as const;
export type DocumentName = keyof typeof DOCUMENTS;

const DOCUMENT = 'document';
/** The extensions in which the decorators of auth/access.ts say who may call. */
const ROLE = 'x-required-role';
const SCOPE = 'x-required-scope';

/** Assigns the operations of a module to a document; the default is `current`. */
export const InDocument = (name: DocumentName) => SetMetadata(DOCUMENT, name);

/** A document, including the schemas of queries. Clients reach the service at `basePath`, as in Config. */
export function createDocument(app: INestApplication, basePath: string, name: DocumentName): OpenAPIObject {
  const { title, description, tags, moreHeaders } = DOCUMENTS[name];
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle(title)
    .setDescription(readDescription(description, basePath))
    .setVersion(VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(basePath || '/', 'The service that published this document.')
    // Swagger UI shows them in this order: the most used first.
    .addBearerAuth(
      bearer('The access token, for the operations of an account. It is valid for an hour.'),
      'access_token',
    )
    .addApiKey({ type: 'apiKey', in: 'header', name: 'api-key', description: ACCOUNT_KEY }, 'account_key')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'api-key', description: API_KEY }, 'api_key')
    .addCookieAuth('waitlist_session', { type: 'apiKey', in: 'cookie', description: COOKIE }, 'session_cookie')
    .addBearerAuth(bearer('The refresh token. It can be exchanged once for a new pair of tokens.'), 'refresh_token');
  for (const [tag, text] of tags) builder.addTag(tag, text);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_, method) => method,
    extraModels: [ProblemDto],
    include: modulesOf(app, name),
  });
  const headers = { ...HEADERS, ...(name === 'legacy' && DEPRECATION_HEADERS) };
  const commonHeaders = [...COMMON_HEADERS, ...moreHeaders];
  const responses = sharedProblemResponses();
  for (const response of Object.values(responses)) addHeaders(response, commonHeaders);
  document.components = { ...document.components, headers, responses };
  for (const name of strictSchemas())
    Object.assign(document.components.schemas?.[name] ?? {}, { additionalProperties: false });
  inlineNullables(document.components.schemas);
  document.paths = inOrderOfUse(document);
  for (const { get, ...writes } of Object.values(document.paths)) {
    for (const operation of [get, writes.post, writes.patch, writes.delete])
      if (operation) complete(operation, commonHeaders);
  }
  return document;
}

function modulesOf(app: INestApplication, document: DocumentName): Type<unknown>[] {
  const modules = [...app.get(ModulesContainer).values()].map(({ metatype }) => metatype);
  return modules.filter((module) => (Reflect.getMetadata(DOCUMENT, module) ?? 'current') === document);
}

function readDescription(name: string, basePath: string): string {
  const text = readFileSync(new URL(`./${name}`, import.meta.url), 'utf8').trimEnd();
  return text.replaceAll('](/docs', `](${basePath}/docs`);
}

/** OpenAPI 3.0 cannot make a reference nullable, so a nullable object stands inline. */
function inlineNullables(schemas: Components['schemas'] = {}): void {
  const properties = Object.values(schemas).flatMap((schema) =>
    Object.values(('properties' in schema && schema.properties) || {}),
  );
  for (const property of properties) {
    if ('$ref' in property || !property.nullable) continue;
    const [reference] = property.allOf ?? [];
    if (!reference || !('$ref' in reference)) continue;
    delete property.allOf;
    Object.assign(property, { ...schemas[reference.$ref.split('/').at(-1) ?? ''], ...property });
  }
}

/** Orders paths by tag, and the operations of a path by use. Tools show them in this order. */
function inOrderOfUse({ paths, tags = [] }: OpenAPIObject): OpenAPIObject['paths'] {
  const names = tags.map(({ name }) => name);
  const rank = ({ get, post, delete: remove }: PathItem) => names.indexOf((post ?? get ?? remove)?.tags?.[0] ?? '');
  return Object.fromEntries(
    Object.entries(paths)
      .sort(([, one], [, other]) => rank(one) - rank(other))
      .map(([path, { post, get, patch, delete: remove }]) => [path, { post, get, patch, delete: remove }]),
  );
}

/**
 * The document as published: without the schemas of queries, which operations list as parameters, without unused
 * components, and without `Dto` in schema names, because SDKs name their types after them.
 */
export function publishable(document: OpenAPIObject): OpenAPIObject {
  const used = (kind: 'schemas' | 'headers' | 'responses', text: string) =>
    Object.entries(document.components?.[kind] ?? {}).filter(([name]) =>
      text.includes(`"#/components/${kind}/${name}"`),
    );
  const all = JSON.stringify(document);
  const schemas = Object.fromEntries(used('schemas', all).map(([name, schema]) => [name.replace(/Dto$/, ''), schema]));
  const responses = Object.fromEntries(used('responses', all));
  const headers = Object.fromEntries(used('headers', JSON.stringify([document.paths, responses])));
  const securitySchemes = Object.fromEntries(
    Object.entries(document.components?.securitySchemes ?? {}).filter(([name]) => all.includes(`"${name}":[]`)),
  );
  const published = {
    ...document,
    components: { ...document.components, schemas, headers, responses, securitySchemes },
  };
  return JSON.parse(
    JSON.stringify(published).replaceAll(/"(#\/components\/schemas\/\w+)Dto"/g, '"$1"'),
  ) as OpenAPIObject;
}

/** Adds who may call, error responses, headers, and an empty `security` to public operations. */
function complete(operation: Operation, commonHeaders: readonly string[]): void {
  const marks = operation as unknown as Record<string, unknown>;
  const hasIdInPath = operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === 'path');
  operation.security ??= [];
  const { security } = operation;
  const isPublic = security.some((scheme) => Object.keys(scheme).length === 0);
  const takesKeys = !isPublic && security.some((scheme) => 'account_key' in scheme);
  const { [ROLE]: role, [SCOPE]: scope } = marks as { readonly [Mark in typeof ROLE | typeof SCOPE]?: string };
  if (role !== undefined) operation.description = `${operation.description ?? ''}\n\n${needOf(role, scope)}`;
  const codes = [
    ...((marks[PROBLEM_CODES] ?? []) as ProblemCode[]),
    ...((marks[GUARD_PROBLEM_CODES] ?? []) as ProblemCode[]),
    ...(hasIdInPath ? (['PATH_TOO_LONG'] as const) : []),
    ...(takesKeys ? (['INVALID_ACCOUNT_KEY'] as const) : []),
    ...(scope === 'manage' ? (['INSUFFICIENT_SCOPE'] as const) : []),
    ...(role === undefined || role === 'viewer' ? [] : (['INSUFFICIENT_ROLE'] as const)),
  ];
  delete marks[PROBLEM_CODES];
  delete marks[GUARD_PROBLEM_CODES];
  Object.assign(operation.responses, problemResponses(codes));
  const isRepeatable = operation.parameters?.some(
    (parameter) => 'name' in parameter && parameter.name === 'Idempotency-Key',
  );
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response === undefined || '$ref' in response) continue;
    if (isRepeatable && status.startsWith('2')) response.headers = { ...response.headers, ...REPLAYED };
    addHeaders(response, commonHeaders);
  }
}

function needOf(role: string, scope: string | undefined): string {
  const member = role === 'viewer' ? 'Any member may call this' : `Needs the role \`${role}\``;
  return scope === undefined ? `${member}; no account key.` : `${member}; an account key needs the scope \`${scope}\`.`;
}

function addHeaders(response: { headers?: object }, names: readonly string[]): void {
  response.headers = {
    ...response.headers,
    ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  };
}

function bearer(description: string) {
  const practice = 'Verified according to RFC8725: the algorithm, issuer, audience, type and expiry are checked.';
  return { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT', description: `${description} ${practice}` };
}

const API_KEY =
  'The API key of a waitlist, in place of `api_key`. It is sent together with the access token, and stays out of URLs and logs.';
const ACCOUNT_KEY =
  'An account key, in place of an access token. Send no token beside it: with a token, the header is for the API key of a waitlist.';
const COOKIE = 'The refresh token of a browser. `POST /api/v1/auth/session` sets it.';
const SECONDS = { type: 'integer', format: 'int32', minimum: 0, maximum: 86_400, example: 30 } as const;
const REQUESTS = { type: 'integer', format: 'int32', minimum: 0, maximum: 10_000_000, example: 599 } as const;
const REPLAYED = { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } };
const COMMON_HEADERS = ['Cache-Control', 'x-request-id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const HEADERS: Components['headers'] = {
  'Idempotent-Replayed': {
    description: 'Present if this is the answer of an earlier request with the same `Idempotency-Key`.',
    schema: openEnum(['true']),
  },
  'Cache-Control': {
    description: 'Responses must not be cached: they hold positions, personal data or tokens.',
    required: true,
    schema: openEnum(['no-store']),
  },
  'x-request-id': {
    description: 'The id of the request in the log. The caller may send its own: up to 64 of `A-Z a-z 0-9 _ . -`.',
    required: true,
    schema: { type: 'string', pattern: '^[\\w.-]{1,64}$', maxLength: 64 },
  },
  'Set-Cookie': {
    description:
      'The cookie with the refresh token, or one that removes it: `HttpOnly`, `SameSite=Strict`, and `Secure` where the public address of the service is https.',
    required: true,
    schema: { type: 'string', maxLength: 4096 },
  },
  'Sign-On-Cookie': {
    description:
      'The cookie of a sign-in or a link at the provider, or one that removes it (`HttpOnly`, `SameSite=Lax`); with a new login also that of `POST /api/v1/auth/session`.',
    schema: { type: 'string', maxLength: 4096 },
  },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', required: true, schema: SECONDS },
  'WWW-Authenticate': {
    description: 'RFC 6750: `Bearer error="invalid_token"` if a token was sent that is invalid; otherwise `Bearer`.',
    required: true,
    schema: openEnum(['Bearer', 'Bearer error="invalid_token"']),
  },
  'RateLimit-Limit': {
    description: 'Requests that this address may make per minute. Absent if there is no limit.',
    schema: REQUESTS,
  },
  'RateLimit-Remaining': { description: 'Requests left in the current window.', schema: REQUESTS },
  'RateLimit-Reset': { description: 'Seconds until the window ends.', schema: SECONDS },
  Link: {
    description:
      'The next page, `<…>; rel="next"` (RFC 8288). It starts after the last item of this page, so none is skipped if items are removed between two requests. It has the parameters of the URL; those of a JSON body must be sent again. Absent on the last page.',
    schema: { type: 'string', maxLength: 8192, pattern: '^<.+>; rel="next"$' },
  },
  'X-Total-Count': {
    description: 'The number of Waiters on all pages. Absent with `search` and `name`.',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
};
const DEPRECATION_HEADERS: Components['headers'] = {
  Deprecation: {
    description:
      'Present if the operation is deprecated, in every answer: since when, as `@` and seconds since 1970 (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d{10}$', maxLength: 11 },
  },
  Link: {
    description: 'Beside `Deprecation`: the operation to use instead (RFC 5829).',
    schema: { type: 'string', maxLength: 2400, pattern: '^<.+>; rel="successor-version"$' },
  },
};
