import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { PROBLEM_CODES, problemResponses } from '../problems/api-problems.js';
import { ProblemDto } from '../problems/problem.dto.js';
import type { ProblemCode } from '../problems/problem-catalog.js';
import { RATE_LIMIT_DEFAULT, RATE_LIMITED, type RateLimit } from '../limits/rate-limits.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Components = NonNullable<OpenAPIObject['components']>;

/** The contract, with the schemas of queries too. `serverPath` is the path below which the service is reached. */
export function createDocument(app: INestApplication, serverPath: string): OpenAPIObject {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Waitlist Service')
    .setDescription(DESCRIPTION)
    .setVersion('1.0.0')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(serverPath, 'The service that serves this document.')
    .addTag('Signup', TAGS.Signup)
    .addTag('Auth', TAGS.Auth)
    .addTag('Waiter', TAGS.Waiter)
    .addTag('Waitlist', TAGS.Waitlist)
    .addApiKey(
      {
        type: 'apiKey',
        in: 'header',
        name: 'api-key',
        description:
          'The API key of a waitlist, beside the access token, where no `api_key` is given. It keeps the key out of addresses and their logs.',
      },
      'api_key',
    )
    .addBearerAuth(
      bearer('The refresh token. It opens one operation only, which gives a new pair for it, once.'),
      'refresh_token',
    )
    // Last, for Swagger UI puts the cursor into the field of the last.
    .addBearerAuth(bearer('The access token. It opens the owner operations for an hour.'), 'access_token')
    .build();
  const document = SwaggerModule.createDocument(app, base, {
    operationIdFactory: (_, method) => method,
    extraModels: [ProblemDto],
  });
  document.components = { ...document.components, headers: HEADERS };
  for (const operation of operationsOf(document)) complete(operation);
  return document;
}

/**
 * What `/openapi.json` serves and `openapi/openapi.json` keeps: a query is spelled out as parameters, its schema left
 * out; schemas are named by what they are, without the `Dto` of our classes, because the names become types of SDKs.
 */
export function publishable(document: OpenAPIObject): OpenAPIObject {
  const { schemas = {} } = document.components ?? {};
  const text = JSON.stringify(document);
  const used = Object.entries(schemas).filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  const renamed = used.map(([name, schema]) => [name.replace(/Dto$/, ''), schema] as const);
  const published = { ...document, components: { ...document.components, schemas: Object.fromEntries(renamed) } };
  return JSON.parse(
    JSON.stringify(published).replaceAll(/"(#\/components\/schemas\/\w+)Dto"/g, '"$1"'),
  ) as OpenAPIObject;
}

function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap(({ get, post, patch, delete: remove }) =>
    [get, post, patch, remove].filter((operation) => operation !== undefined),
  );
}

/** Adds what follows from the rest: how it fails, the headers it sends, and that no token is needed where none is. */
function complete(operation: Operation): void {
  const marks = operation as unknown as Record<string, unknown>;
  const limit = (marks[RATE_LIMITED] ?? RATE_LIMIT_DEFAULT) as RateLimit;
  const hasIdInPath = operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === 'path');
  const codes: ProblemCode[] = [
    ...((marks[PROBLEM_CODES] ?? []) as ProblemCode[]),
    ...LIMIT_CODES[limit],
    ...(hasIdInPath ? (['PATH_TOO_LONG'] as const) : []),
  ];
  delete marks[RATE_LIMITED];
  delete marks[PROBLEM_CODES];
  operation.security ??= [];
  Object.assign(operation.responses, problemResponses(codes));
  const sent = ['Cache-Control', 'x-request-id', ...RATE_LIMIT_HEADERS];
  for (const response of Object.values(operation.responses)) {
    if (response === undefined || '$ref' in response) continue;
    response.headers = {
      ...response.headers,
      ...Object.fromEntries(sent.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    };
  }
}

function bearer(description: string) {
  const practice = 'Issued and verified as RFC8725 asks: one algorithm, issuer, audience, type and expiry checked.';
  return { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT', description: `${description} ${practice}` };
}

const SECONDS = { type: 'integer', format: 'int32', minimum: 0, maximum: 86_400, example: 30 } as const;
const REQUESTS = { type: 'integer', format: 'int32', minimum: 0, maximum: 10_000_000, example: 599 } as const;
const LIMIT_CODES = {
  public: ['RATE_LIMITED'],
  lookup: ['RATE_LIMITED', 'TOO_MANY_MISSES'],
  login: ['RATE_LIMITED'],
  owner: ['RATE_LIMITED'],
} as const satisfies Record<RateLimit, readonly ProblemCode[]>;
const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const HEADERS: Components['headers'] = {
  'Cache-Control': {
    description: 'No answer is for keeping: it holds a place in line, personal data or a token.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
  },
  'x-request-id': {
    description: "The request's id, in the log too. A caller's own (up to 64 of `A-Z a-z 0-9 _ . -`) is kept.",
    required: true,
    schema: { type: 'string', pattern: '^[\\w.-]{1,64}$', maxLength: 64 },
  },
  'Retry-After': { description: 'Seconds to wait before the next try.', required: true, schema: SECONDS },
  'WWW-Authenticate': {
    description: 'RFC 6750: `Bearer` where no token was sent, `Bearer error="invalid_token"` where a wrong one was.',
    required: true,
    schema: { type: 'string', enum: ['Bearer', 'Bearer error="invalid_token"'] },
  },
  'RateLimit-Limit': {
    description: 'Requests that this address may make in a minute. Absent where no limit holds.',
    schema: REQUESTS,
  },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: REQUESTS },
  'RateLimit-Reset': { description: 'Seconds until all of them are there again.', schema: SECONDS },
  Link: {
    description:
      'The next page, `<…>; rel="next"` (RFC 8288). It goes on after the last Waiter of this page, so that offboarding between two pages skips nobody. Absent on the last page.',
    schema: { type: 'string', maxLength: 8192, pattern: '^<.+>; rel="next"$' },
  },
  'X-Total-Count': {
    description: 'Waiters on all pages together.',
    required: true,
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
};

const TAGS = {
  Signup: 'Join a waitlist and see the place in line. Public: a page in any browser may call it, without a token.',
  Auth: 'Log in with the email and password of a service account, and keep the login alive.',
  Waiter: 'List the people in line, and offboard those whose turn has come. For the owner of the waitlist.',
  Waitlist:
    "Configure waitlists: what people must give, what they are asked, what a referral is worth. For the owner, but for a waitlist's public view.",
};

const DESCRIPTION = `People join a waitlist on a page of yours, see their place in line, and move up by referring others.
You list them, and offboard those whose turn has come.

## The tour

1. **Sign up.** \`POST /api/v1/signup\` with a \`waitlist_id\` and an email. The answer holds \`priority\`, the number of
   people ahead (0 is first in line), and a \`referral_link\` to share. Whoever signs up twice gets the same record.
2. **Refer.** A friend signs up with that link as \`referral_link\`: the referrer moves up by the places that the
   waitlist grants (3 at first).
3. **Look up.** \`GET /api/v1/signup\` with the same email shows the place as it is now.
4. **Log in.** \`POST /api/v1/auth/create_tokens\` with the email and password of your account gives two tokens. Send the
   access token with what follows, as \`Authorization: Bearer <token>\`. On this page: press *Authorize* and paste it; it is
   kept over reloads. \`GET /api/v1/auth/refresh_access_token\`, with the refresh token instead, gives the next pair.
5. **List.** \`GET /api/v1/waiter\` with the waitlist's \`api_key\` gives up to 100 people a page, each with its
   \`id\`.
6. **Offboard.** \`PATCH /api/v1/waiter\` with the \`api_key\` and those ids whose turn has come, as
   \`"waiters": [{"id": 1}]\`, takes them out of the line.

A first start makes one account, one waitlist (id 1) and its API key, and prints them to the terminal, with a link to this
page that fills them into the examples.

## Names

A **Signup** is a record as the public sees it, a **Waiter** the same record as its owner sees it. Times are UTC,
\`YYYY-MM-DD_HH-MM-SS\`. A body is JSON in UTF-8, sent as \`application/json\`, of at most 64 levels and 20,000 values, and
uncompressed. Unknown fields in it are ignored, but for \`__proto__\` and \`constructor.prototype\`, which make it malformed; no key may stand twice in
an object, no parameter twice in a query; text that is kept may not hold NUL, and no text a lone surrogate.

## Errors

Each failure is a problem (RFC 9457): \`error_code\` for programs, \`detail\` for people, \`errors\` with each field at fault
and the rule it breaks, \`instance\` with the id of the request. All codes, and what to do about each: \`/docs/errors\`.
Beside what each operation names, a path that is unknown answers 404, one that takes other methods 405 with \`Allow\`, one
that is too long 414; headers that are too large 431, and a request that takes too long to arrive 408.

## Limits

Requests are limited by address: signing up and looking up together, logging in, and what is an owner's, each apart. The
\`RateLimit-…\` headers say how much is left, and a 429 says in \`Retry-After\` when to come back. A body may have 256 KiB, 1 MiB when offboarding.`;
