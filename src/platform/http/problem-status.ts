import type { ProblemKind } from '../problem-codes.js';

/** The status of each kind of `Problem`. */
export const STATUS: Record<ProblemKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rule_broken: 422,
  throttled: 429,
  unavailable: 503,
};

interface HttpFault {
  readonly code: string;
  /** Told to the caller. */
  readonly detail: string;
  readonly remedy: string;
}

/** Faults that the HTTP machinery finds before any of our code runs, by status. */
export const HTTP_FAULTS: Readonly<Record<number, HttpFault>> = {
  400: {
    code: 'MALFORMED_REQUEST',
    detail: 'The request is malformed.',
    remedy: 'Correct the path, the headers or the encoding; a percent sign that encodes nothing is the usual cause.',
  },
  404: {
    code: 'NOT_FOUND',
    detail: 'There is nothing at this path.',
    remedy: 'Compare the path with the documentation.',
  },
  405: {
    code: 'METHOD_NOT_ALLOWED',
    detail: 'This path does not take this method.',
    remedy: 'Use one of the methods that the header `Allow` names.',
  },
  408: {
    code: 'REQUEST_TIMEOUT',
    detail: 'The request took too long to arrive.',
    remedy: 'Send it again.',
  },
  413: {
    code: 'BODY_TOO_LARGE',
    detail: 'The body is larger than this operation takes.',
    remedy: 'Send less: 256 KiB at most, 1 MiB when offboarding.',
  },
  414: {
    code: 'PATH_TOO_LONG',
    detail: 'The path is too long.',
    remedy: 'Shorten it; the documented paths all fit.',
  },
  415: {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: 'The body must be JSON, sent as application/json.',
    remedy: 'Send the header `Content-Type: application/json`.',
  },
  431: {
    code: 'HEADERS_TOO_LARGE',
    detail: 'The headers are too large.',
    remedy: 'Send fewer or shorter headers; cookies are not needed.',
  },
  503: {
    code: 'OVERLOADED',
    detail: 'The service has more to do than it can take on; try again.',
    remedy: 'Send the same request again after `Retry-After`.',
  },
};

/** What nobody foresaw. */
export const INTERNAL_ERROR: HttpFault = {
  code: 'INTERNAL_ERROR',
  detail: 'Something went wrong on our side.',
  remedy: 'Report it with the `instance` of the answer: the log has the rest under that id.',
};

/** Where the documentation explains a code: the `type` of problem details. */
export function problemType(code: string): string {
  return `/docs/errors#${code.toLowerCase()}`;
}
