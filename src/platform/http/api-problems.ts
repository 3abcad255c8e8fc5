import { STATUS_CODES } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ProblemDto } from './problem.dto.js';

/** What every operation may answer: the server is overloaded, shutting down or without its database. */
const ALWAYS = [503];

/** Documents the failures of an operation, each as problem details. */
export function ApiProblems(...statuses: number[]) {
  return applyDecorators(
    ApiExtraModels(ProblemDto),
    ...[...statuses, ...ALWAYS].map((status) =>
      ApiResponse({
        status,
        description: STATUS_CODES[status],
        headers: HEADERS[status],
        content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDto) } } },
      }),
    ),
  );
}

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' as const } },
};
const HEADERS: Readonly<
  Record<number, Record<string, { description: string; schema: { type: 'integer' | 'string' } }>>
> = {
  401: { 'WWW-Authenticate': { description: 'RFC 6750.', schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};
