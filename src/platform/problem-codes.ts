/** What went wrong, in words of the business; only `platform/http` knows the status of each. */
export type ProblemKind =
  'invalid' | 'unauthenticated' | 'forbidden' | 'not_found' | 'conflict' | 'rule_broken' | 'throttled' | 'unavailable';

interface ProblemCodeEntry {
  readonly kind: ProblemKind;
  /** What happened. */
  readonly meaning: string;
  /** What the caller can do about it. */
  readonly remedy: string;
}

/** Every outcome a `Problem` can have. The codes are part of the contract; `/docs/errors` shows this table. */
export const PROBLEM_CODES = {
  INVALID_REQUEST: {
    kind: 'invalid',
    meaning: 'A parameter or a field of the body is missing or has a wrong type, form or size; `errors` names each.',
    remedy: 'Correct the fields named. The same request would fail again.',
  },
  MALFORMED_JSON: {
    kind: 'invalid',
    meaning: 'The body is not JSON in UTF-8.',
    remedy: 'Send JSON, with the header `Content-Type: application/json`.',
  },
  WRONG_CREDENTIALS: {
    kind: 'unauthenticated',
    meaning: 'The email or the password is wrong, or the account is disabled; the answer does not say which.',
    remedy: 'Check both. `npm run cli -- owner set-password <email>` sets a new password.',
  },
  MISSING_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'An owner operation was called without an `Authorization` header.',
    remedy: 'Create tokens and send `Authorization: Bearer <access token>`.',
  },
  INVALID_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The token has expired, was revoked, is not ours, or is of the other kind (access, refresh).',
    remedy: 'Refresh the access token; where that fails too, log in again. A refresh token can be used once.',
  },
  WRONG_API_KEY: {
    kind: 'forbidden',
    meaning: 'The API key is unknown, or opens a waitlist of another owner.',
    remedy: 'Use the key that was shown when the waitlist was made, or renew it.',
  },
  NO_WAITER_FOUND: {
    kind: 'not_found',
    meaning: 'Nobody on this waitlist has this email or phone.',
    remedy: 'Sign up first, or correct the email or phone.',
  },
  WAITLIST_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'There is no waitlist with this id, or, for an owner operation, it belongs to another owner.',
    remedy: 'Check the id; `GET /api/v1/waitlist` lists those of an owner.',
  },
  ACCOUNT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'There is no account with this email. Only the command line says so.',
    remedy: 'Check the email, or make the account with `npm run cli -- owner create <email>`.',
  },
  ACCOUNT_EXISTS: {
    kind: 'conflict',
    meaning: 'There is an account with this email already. Only the command line says so.',
    remedy: 'Use that account; `npm run cli -- owner set-password <email>` sets a new password.',
  },
  WAITLIST_NOT_EMPTY: {
    kind: 'conflict',
    meaning: 'The waitlist has records already. Only the command line says so, when it seeds a waitlist.',
    remedy: 'Seed an empty waitlist.',
  },
  WAITLIST_RULE_BROKEN: {
    kind: 'rule_broken',
    meaning: 'The signup does not fit what the owner of this waitlist asks for; `errors` names each field.',
    remedy: 'Give the contact data and the answers that this waitlist requires.',
  },
  RATE_LIMITED: {
    kind: 'throttled',
    meaning: 'This address sent more requests within a minute than the service takes.',
    remedy:
      'Wait as long as `Retry-After` says. `RATE_LIMIT_PUBLIC`, `RATE_LIMIT_LOGIN` and `RATE_LIMIT_EXEMPT` set the limits.',
  },
  TOO_MANY_ATTEMPTS: {
    kind: 'throttled',
    meaning: 'Logging in to this account failed too often from this address.',
    remedy: 'Wait as long as `Retry-After` says.',
  },
  LINE_FULL: {
    kind: 'unavailable',
    meaning: 'More requests wait for the database than this instance holds. Nothing was stored.',
    remedy: 'Send the same request again after `Retry-After`; a signup that was stored finds itself.',
  },
  SHUTTING_DOWN: {
    kind: 'unavailable',
    meaning: 'This instance finishes what it has taken on and takes nothing new.',
    remedy: 'Send the same request again after `Retry-After`; another instance will take it.',
  },
  DATABASE_UNAVAILABLE: {
    kind: 'unavailable',
    meaning: 'The service cannot reach its database.',
    remedy: 'Send the same request again after `Retry-After`; every operation is safe to repeat.',
  },
} as const satisfies Readonly<Record<string, ProblemCodeEntry>>;

export type ProblemCode = keyof typeof PROBLEM_CODES;
