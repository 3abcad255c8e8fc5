import { STATUS_CODES } from 'node:http';
import { ApiExtension, getSchemaPath } from '@nestjs/swagger';
import { PROBLEMS, type ProblemCode, problemEntry, problemType } from './problem-catalog.js';
import { ProblemDto } from './problem.dto.js';

/** Where the decorator leaves what an operation refuses, until the document spells it out as answers. */
export const PROBLEM_CODES = 'x-problem-codes';

/** What any operation may answer, whatever it does: a request that can't be read, a fault of ours, no capacity. */
const ALWAYS: readonly ProblemCode[] = [
  'INVALID_REQUEST',
  'MALFORMED_REQUEST',
  'MALFORMED_JSON',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL_ERROR',
  'OVERLOADED',
  'QUEUE_FULL',
  'SHUTTING_DOWN',
  'DATABASE_UNAVAILABLE',
];

const INSTANCE_EXAMPLE = '0199f2a4-5b6c-7def-8a90-123456789abc';

/** Documents how an operation of its own refuses; what every operation may answer is added to each. */
export function ApiProblems(...codes: ProblemCode[]) {
  return ApiExtension(PROBLEM_CODES, codes);
}

/** The failing answers of an operation by status, each with a real example of every code it may carry. */
export function problemResponses(codes: readonly ProblemCode[]) {
  const all = Object.keys(PROBLEMS).filter((code) =>
    [...ALWAYS, ...codes].includes(code as ProblemCode),
  ) as ProblemCode[];
  const statuses = [...new Set(all.map((code) => problemEntry(code).status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = all.filter((code) => problemEntry(code).status === status);
      return [String(status), problemResponse(status, ofStatus)];
    }),
  );
}

function problemResponse(status: number, codes: readonly ProblemCode[]) {
  const remedies = codes.map((code) => `- \`${code}\`: ${problemEntry(code).remedy}`);
  return {
    description: `${STATUS_CODES[status]}\n\n${remedies.join('\n')}`,
    headers: HEADERS[status] ?? {},
    content: {
      'application/problem+json': {
        schema: { $ref: getSchemaPath(ProblemDto) },
        examples: Object.fromEntries(
          codes.map((code) => [code, { summary: problemEntry(code).detail, value: example(code) }]),
        ),
      },
    },
  };
}

function example(code: ProblemCode): ProblemDto {
  const { status, detail, errors } = problemEntry(code);
  return {
    type: problemType(code),
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    instance: INSTANCE_EXAMPLE,
    ...(errors && { errors: errors.map((fault) => ({ ...fault })) }),
    error_code: code,
    error_string: detail,
    message: detail,
  };
}

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });
const HEADERS: Readonly<Record<number, Record<string, { $ref: string }>>> = {
  401: header('WWW-Authenticate'),
  429: header('Retry-After'),
  503: header('Retry-After'),
};
