import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { ApiExtension, getSchemaPath } from '@nestjs/swagger';
import { Problem } from './problem.js';
import { PROBLEMS, type ProblemCode } from './problem-catalog.js';
import { ProblemDto } from './problem.dto.js';

/** The extension in which {@link ApiProblems} stores its codes until document.ts turns them into responses. */
export const PROBLEM_CODES = 'x-problem-codes';

/** As {@link PROBLEM_CODES}, for the failures of an operation's guard. */
export const GUARD_PROBLEM_CODES = 'x-guard-problem-codes';

/** Failures that every operation can have: an unreadable request, a rate limit, an error of ours, no capacity. */
const ALWAYS: readonly ProblemCode[] = [
  'INVALID_REQUEST',
  'MALFORMED_REQUEST',
  'MALFORMED_JSON',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'OVERLOADED',
  'QUEUE_FULL',
  'SHUTTING_DOWN',
  'DATABASE_UNAVAILABLE',
];
/** Failures that most operations can have. With {@link ALWAYS}, they make the responses that operations share. */
const OFTEN: readonly ProblemCode[] = [
  'MISSING_TOKEN',
  'INVALID_TOKEN',
  'INVALID_ACCOUNT_KEY',
  'TWO_FACTOR_REQUIRED',
  'INSUFFICIENT_ROLE',
  'INSUFFICIENT_SCOPE',
  'PATH_TOO_LONG',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
];

const INSTANCE_EXAMPLE = '0199f2a4-5b6c-7def-8a90-123456789abc';

/** Documents the failures of an operation, in addition to those that every operation can have. */
export function ApiProblems(...codes: ProblemCode[]) {
  return ApiExtension(PROBLEM_CODES, codes);
}

/** The responses that operations share, by their name in `components`: one for each status. */
export function sharedProblemResponses() {
  return Object.fromEntries(
    Object.entries(SHARED).map(([status, codes]) => [nameOf(status), problemResponse(Number(status), codes)]),
  );
}

/**
 * The error responses of an operation by status. A status with the shared failures and no others refers to the shared
 * response, so what a reader finds at the operation is its own.
 */
export function problemResponses(codes: readonly ProblemCode[]) {
  return Object.fromEntries(
    Object.entries(byStatus([...ALWAYS, ...codes])).map(([status, own]) => [
      status,
      isDeepStrictEqual(own, SHARED[status])
        ? { $ref: `#/components/responses/${nameOf(status)}` }
        : problemResponse(Number(status), own),
    ]),
  );
}

/** The codes of each status, in the order of the catalog. */
function byStatus(codes: readonly ProblemCode[]): Readonly<Record<string, readonly ProblemCode[]>> {
  const all = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => codes.includes(code));
  const statuses = new Set(all.map((code) => PROBLEMS[code].status));
  return Object.fromEntries(
    Array.from(statuses, (status) => [status, all.filter((code) => PROBLEMS[code].status === status)]),
  );
}

const SHARED = byStatus([...ALWAYS, ...OFTEN]);

/** `Bad Request` → `BadRequest`. */
function nameOf(status: string): string {
  return STATUS_CODES[status]!.replaceAll(/\W/g, '');
}

function problemResponse(status: number, codes: readonly ProblemCode[]) {
  // The examples have all codes of the status. The remedies leave out the shared codes, unless there are no others.
  const own = codes.filter((code) => !SHARED[status]?.includes(code));
  const remedies = (own.length > 0 ? own : codes).map((code) => `- \`${code}\`: ${PROBLEMS[code].remedy}`);
  return {
    description: `${STATUS_CODES[status]}\n\n${remedies.join('\n')}`,
    headers: HEADERS[status] ?? {},
    content: {
      'application/problem+json': {
        schema: { $ref: getSchemaPath(ProblemDto) },
        examples: Object.fromEntries(
          codes.map((code) => {
            const { detail, errors } = PROBLEMS[code];
            const value = ProblemDto.from(new Problem(code, { fields: errors }), INSTANCE_EXAMPLE);
            return [code, { summary: detail, value }];
          }),
        ),
      },
    },
  };
}

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });
const HEADERS: Readonly<Record<number, Record<string, { $ref: string }>>> = {
  401: header('WWW-Authenticate'),
  429: header('Retry-After'),
  503: header('Retry-After'),
};
