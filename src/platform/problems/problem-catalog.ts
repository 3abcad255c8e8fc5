import type { Rule } from './rule.js';

interface ProblemEntry {
  readonly status: number;
  /** The message, or an example where the message depends on the request. */
  readonly detail: string;
  /** A hint for the caller. */
  readonly remedy: string;
  readonly retryAfterSeconds?: number;
  /** An example of `errors`. */
  readonly errors?: readonly { readonly field: string; readonly rule: Rule; readonly message: string }[];
}

const REPEAT_LATER =
  'Wait for the number of seconds in `Retry-After`. It is safe to repeat a signup, an offboarding by ids, and any request with an `Idempotency-Key`.';

const CATALOG = {
  INVALID_REQUEST: {
    status: 400,
    detail: 'email must be an email address',
    remedy: 'Fix the fields listed in `errors`.',
    errors: [{ field: 'email', rule: 'format', message: 'must be an email address' }],
  },
  MALFORMED_JSON: {
    status: 400,
    detail: 'The body must be JSON in UTF-8.',
    remedy: 'Send well-formed JSON, in UTF-8, of at most 64 levels and 20,000 values.',
    errors: [{ field: 'body', rule: 'format', message: 'must be JSON in UTF-8' }],
  },
  INVALID_CSV: {
    status: 400,
    detail: 'The file must be CSV in UTF-8; email must be a column of the file unless phone is one.',
    remedy: 'Send CSV in UTF-8 whose first line names the columns, each once. Nothing was imported.',
    errors: [{ field: 'email', rule: 'required', message: 'must be a column of the file unless phone is one' }],
  },
  MALFORMED_REQUEST: {
    status: 400,
    detail: 'The request is malformed.',
    remedy: 'Check the path and its percent-encoding.',
  },
  MISSING_TOKEN: {
    status: 401,
    detail: 'This operation needs a token, sent as `Authorization: Bearer <token>`.',
    remedy:
      'Create tokens and send `Authorization: Bearer <token>`. Operations of an account also take an account key, in the header `api-key`.',
  },
  INVALID_TOKEN: {
    status: 401,
    detail: 'The token is invalid, expired or revoked; log in again.',
    remedy:
      'Refresh with the refresh token, or create new tokens. An access token cannot be used as a refresh token, or the reverse.',
  },
  INVALID_ACCOUNT_KEY: {
    status: 401,
    detail: 'The account key is unknown, expired or revoked.',
    remedy: 'Log in, and create a new account key.',
  },
  WRONG_CREDENTIALS: {
    status: 401,
    detail: 'The email or the password is wrong.',
    remedy: 'Check both. The answer does not say which one is wrong.',
  },
  OTP_REQUIRED: {
    status: 401,
    detail: 'The password is right; this login also needs a code of the second factor.',
    remedy: 'Send the same again with `otp`: the code of the authenticator app, or a recovery code.',
  },
  NO_SESSION: {
    status: 401,
    detail: 'There is no login: its cookie is missing or invalid, or it has ended.',
    remedy: 'Log in again, with `POST /api/v1/auth/session`.',
  },
  WRONG_PASSWORD: {
    status: 403,
    detail: 'The current password is wrong.',
    remedy: 'Check `current_password`. After repeated failures, further attempts get 429.',
    errors: [{ field: 'current_password', rule: 'match', message: 'is not your current password' }],
  },
  WRONG_OTP: {
    status: 403,
    detail: 'The code of the second factor is wrong, or was used already.',
    remedy:
      'Send the code that the authenticator app shows now; each counts once. Check the clock of its device. After repeated failures, further attempts get 429.',
    errors: [{ field: 'otp', rule: 'match', message: 'is not a code that counts now' }],
  },
  PASSWORD_LOGIN_OFF: {
    status: 403,
    detail: 'This service has no logins by password.',
    remedy: 'Sign in by single sign-on: `GET /api/v1/auth/methods` says whether it is on.',
  },
  FOREIGN_ORIGIN: {
    status: 403,
    detail: 'Only pages of this service may call this operation.',
    remedy:
      'Call it from a page of the same origin. Programs other than browsers use `/api/v1/auth/create_tokens`. Behind a proxy that changes `Host`, name the proxy in `TRUST_PROXY` and let it send `X-Forwarded-Host`.',
  },
  WRONG_API_KEY: {
    status: 403,
    detail: 'This API key does not belong to one of your waitlists.',
    remedy: 'Send the key of a waitlist that belongs to the account of the token.',
  },
  TWO_FACTOR_REQUIRED: {
    status: 403,
    detail: 'This account requires a second factor, and you have none yet.',
    remedy: 'Set one up with `POST /api/v1/auth/two_factor`, and confirm it.',
  },
  INSUFFICIENT_ROLE: {
    status: 403,
    detail: 'This operation needs the role editor; yours is viewer.',
    remedy: 'Ask an owner of the account to do it, or for the role that `detail` names.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    detail: 'This account key does not allow this operation.',
    remedy:
      'Use a key with the scope `manage`, a key for all waitlists, or an access token. Only an access token creates account keys.',
  },
  NOT_FOUND: {
    status: 404,
    detail: 'There is nothing at this path.',
    remedy: 'Check the path: the API is below `/api/v1`.',
  },
  WAITLIST_NOT_FOUND: {
    status: 404,
    detail: 'There is no such waitlist.',
    remedy:
      'Check the id. Waitlists of other accounts, and those that an account key does not open, are not found either.',
  },
  NO_WAITER_FOUND: {
    status: 404,
    detail: 'There is no such record.',
    remedy:
      'Create a signup, or check the waitlist and the email, phone or uuid. Records of other accounts are not found either.',
  },
  LINK_NOT_FOUND: {
    status: 404,
    detail: 'There is no such link, or it has ended.',
    remedy:
      'Ask for a new link. That of a verification works for 72 hours, until a newer one is used; `POST /api/v1/signup/resend_verification` mails a new one. That of an invitation works for 7 days and that of a new password for an hour, each once and until there is a newer one.',
  },
  LEAVE_LINK_NOT_FOUND: {
    status: 404,
    detail: 'There is no such link to leave, or it has expired.',
    remedy: 'Returned by the page of a link to leave. Such a link works for 30 days; the private page mails a new one.',
  },
  OFFER_NOT_FOUND: {
    status: 404,
    detail: 'There is no offer with this code.',
    remedy:
      'Check the code. Codes that were replaced by a new link are unknown, and so are those of erased people and of other accounts.',
  },
  NO_IMPORT_FOUND: {
    status: 404,
    detail: 'Nothing was imported into this waitlist in the last 30 days.',
    remedy: 'Import a file first. A dry run does not count.',
  },
  ACCOUNT_NOT_FOUND: {
    status: 404,
    detail: 'There is no account that has an active owner with this email.',
    remedy: 'Returned by the CLI only. Create an account with `npm run cli -- owner create <email>`.',
  },
  MEMBER_NOT_FOUND: {
    status: 404,
    detail: 'There is no such member.',
    remedy: 'Check the id or the email. Members of other accounts and removed ones are not found either.',
  },
  ACCOUNT_KEY_NOT_FOUND: {
    status: 404,
    detail: 'There is no such account key.',
    remedy: 'Check the id. Revoked keys and keys of other accounts are not found either.',
  },
  WEBHOOK_NOT_FOUND: {
    status: 404,
    detail: 'There is no such webhook.',
    remedy: 'Check the id: a webhook belongs to one waitlist.',
  },
  SESSION_NOT_FOUND: {
    status: 404,
    detail: 'There is no such login.',
    remedy: 'Check the id. Logins that have ended and those of other members are not found either.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    detail: 'This path does not support this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.', remedy: 'Send it again.' },
  NO_RELEASE_PLAN: {
    status: 409,
    detail: 'This waitlist has no release plan.',
    remedy: 'Set `release_plan` first. A paused plan can be run too.',
  },
  RELEASE_RUNNING: {
    status: 409,
    detail: 'A run of the release plan is under way.',
    remedy: 'Wait until `GET /api/v1/waitlist/{waitlist_id}/release` shows that it is done.',
  },
  OFFER_ENDED: {
    status: 409,
    detail: 'No offer is open any more: it was accepted, declined or withdrawn, or it has expired.',
    remedy:
      'Check its state with `POST /api/v1/offer/check`. To give the person a seat, make a new offer; return them to the queue first, unless they are waiting.',
  },
  ACCOUNT_EXISTS: {
    status: 409,
    detail: 'A member with this email already exists.',
    remedy: 'Returned by the CLI only. `npm run cli -- owner set-password <email>` sets a new password.',
  },
  EMAIL_TAKEN: {
    status: 409,
    detail: 'A member of this service has this email.',
    remedy: 'An email belongs to one member of one account. Removing that member frees it.',
  },
  MEMBER_ACTIVE: {
    status: 409,
    detail: 'This member is not waiting for an invitation.',
    remedy:
      'The member has joined, or is disabled. `POST /api/v1/member/{id}/password_reset` helps with a lost password.',
  },
  MEMBER_NOT_ACTIVE: {
    status: 409,
    detail: 'This member is not active.',
    remedy: 'Send an invited member a new invitation; enable a disabled one with `is_active: true` first.',
  },
  LAST_OWNER: {
    status: 409,
    detail: 'The account would be left without an active owner who can log in.',
    remedy: 'Give another active member the role owner first.',
  },
  TOO_MANY_MEMBERS: {
    status: 409,
    detail: 'This account cannot have more members.',
    remedy: 'Remove a member who is not needed. Invited and disabled ones count too.',
  },
  TWO_FACTOR_ON: {
    status: 409,
    detail: 'You have a second factor already.',
    remedy: 'To set up another one, disable it first with `POST /api/v1/auth/two_factor/disable`.',
  },
  TWO_FACTOR_OFF: {
    status: 409,
    detail: 'You have no second factor.',
    remedy: 'Set one up with `POST /api/v1/auth/two_factor`.',
  },
  OWN_TWO_FACTOR: {
    status: 409,
    detail: 'This is your own second factor.',
    remedy: 'Disable it with `POST /api/v1/auth/two_factor/disable`, or ask another owner.',
  },
  ID_TAKEN: {
    status: 409,
    detail: 'This id belongs or belonged to another waitlist.',
    remedy:
      'Create the waitlist without `id`. If your account deleted the waitlist that had this id, try again once its records are deleted too, some seconds later.',
  },
  PUBLIC_KEY_TAKEN: {
    status: 409,
    detail: 'This public key belongs or belonged to another waitlist.',
    remedy:
      'Create the waitlist without `public_key`. If your account deleted the waitlist that had this key, try again once its records are deleted too, some seconds later.',
  },
  SLUG_TAKEN: {
    status: 409,
    detail: 'This slug belongs or belonged to another waitlist.',
    remedy:
      'Choose another `slug`. If your account deleted the waitlist that had it, try again once its records are deleted too, some seconds later.',
  },
  TOO_MANY_SLUGS: {
    status: 409,
    detail: 'This waitlist cannot have more than 20 values of `slug`, and earlier ones count.',
    remedy: 'Choose an earlier `slug` of this waitlist, or keep the present one.',
  },
  IMPORT_RUNNING: {
    status: 409,
    detail: 'An import into this waitlist is running already.',
    remedy:
      'Wait until `GET /api/v1/waitlist/{waitlist_id}/import` shows that it has ended, at most a minute after its process has stopped. If it failed, import the same file again.',
  },
  CONTACT_TAKEN: {
    status: 409,
    detail: 'Another record of this waitlist has this email or phone.',
    remedy: 'Look that record up by the email or phone. Correct its contact data or erase it first.',
    errors: [{ field: 'email', rule: 'unique', message: 'is that of another record of this waitlist' }],
  },
  TOO_MANY_ACCOUNT_KEYS: {
    status: 409,
    detail: 'This account cannot have more account keys.',
    remedy: 'Revoke a key that is not needed. Expired keys count until they are revoked.',
  },
  TOO_MANY_WEBHOOKS: {
    status: 409,
    detail: 'This waitlist cannot have more webhooks.',
    remedy: 'Delete a webhook that is not needed. One that is off counts too.',
  },
  WEBHOOK_OFF: { status: 409, detail: 'This webhook is off.', remedy: 'Turn it on with `is_active: true` first.' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    detail: 'The first request with this Idempotency-Key is still under way.',
    remedy: 'Repeat the request a moment later to get the answer of the first one.',
  },
  WAITLIST_NOT_EMPTY: {
    status: 409,
    detail: 'Only an empty waitlist can be seeded.',
    remedy: 'Returned by the CLI only. Seed a new waitlist instead.',
  },
  DAMAGED_BEYOND_REBUILD: {
    status: 409,
    detail: 'Facts of this waitlist are damaged; a rebuild cannot derive them.',
    remedy: 'Returned by the CLI only. Restore the waitlist from a backup.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    detail: 'The body is larger than this operation accepts.',
    remedy: 'Send less: at most 256 KiB, 1 MiB when offboarding or erasing, or 1 GiB when importing.',
  },
  PATH_TOO_LONG: { status: 414, detail: 'The path is too long.', remedy: 'Shorten it.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    detail: 'The body must be JSON in UTF-8, sent as application/json and without a Content-Encoding.',
    remedy: 'Send `Content-Type: application/json`, or `text/csv` when importing, and the body uncompressed.',
  },
  WAITLIST_RULE_BROKEN: {
    status: 422,
    detail: 'email is required by this waitlist',
    remedy: 'The request is well-formed but breaks a rule of this waitlist. Fix the fields listed in `errors`.',
    errors: [{ field: 'email', rule: 'required', message: 'is required by this waitlist' }],
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    detail: 'This Idempotency-Key was used with another body.',
    remedy: 'Use a new key for each new request. A key stands for one body for 24 hours.',
  },
  WAITLIST_CLOSED: {
    status: 422,
    detail: 'This waitlist is closed: it takes no new signups.',
    remedy: 'Existing records are still found. The owner opens the waitlist again with `is_closed: false`.',
  },
  MAIL_IS_OFF: {
    status: 422,
    detail: 'This service sends no mail.',
    remedy: 'Ask an owner of your account for a link, or the operator for a new password: `SMTP_URL` is not set.',
  },
  RATE_LIMITED: {
    status: 429,
    detail: 'Too many requests from this address; wait before the next.',
    remedy: 'Wait for the number of seconds in `Retry-After`.',
  },
  TOO_MANY_MISSES: {
    status: 429,
    detail: 'Too many lookups from this address found no record; wait before the next.',
    remedy:
      'Wait for the number of seconds in `Retry-After`. Signups still work, and signing up again returns the existing record.',
  },
  TOO_MANY_LIVE_CONNECTIONS: {
    status: 429,
    retryAfterSeconds: 60,
    detail: 'This address has too many live connections; close one before the next.',
    remedy:
      'Close connections that nobody watches, or wait for the number of seconds in `Retry-After`. An address may have 20 on each instance.',
  },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    detail: 'Too many failed logins; wait before the next.',
    remedy: 'Wait for the number of seconds in `Retry-After`, and check the password and the code.',
  },
  HEADERS_TOO_LARGE: { status: 431, detail: 'The headers are too large.', remedy: 'Send fewer or shorter headers.' },
  INTERNAL_ERROR: {
    status: 500,
    detail: 'Something went wrong on the server.',
    remedy: 'Report the `instance` to the operator: it is the id of the request in the log.',
  },
  OVERLOADED: {
    status: 503,
    retryAfterSeconds: 2,
    detail: 'The service is overloaded; try again.',
    remedy: REPEAT_LATER,
  },
  QUEUE_FULL: {
    status: 503,
    retryAfterSeconds: 1,
    detail: 'Too many requests are waiting; try again.',
    remedy: REPEAT_LATER,
  },
  LIVE_CONNECTIONS_FULL: {
    status: 503,
    retryAfterSeconds: 30,
    detail: 'This instance has no room for more live connections; try again.',
    remedy: 'Wait for the number of seconds in `Retry-After`. Until then, `GET /api/v1/signup/place` gives the place.',
  },
  TRANSFERS_BUSY: {
    status: 503,
    retryAfterSeconds: 10,
    detail: 'This instance is busy with other imports or exports; try again.',
    remedy:
      'Wait for the number of seconds in `Retry-After`. An instance carries out two imports and two exports at once, one of each for an account; an export counts until its last byte is sent.',
  },
  STARTING: {
    status: 503,
    retryAfterSeconds: 1,
    detail: 'This instance is starting; try again.',
    remedy: 'Returned by `/readyz` until the first account exists. Wait for the number of seconds in `Retry-After`.',
  },
  SECRET_UNAVAILABLE: {
    status: 503,
    retryAfterSeconds: 5,
    detail: 'This instance cannot decrypt the stored answer; try again.',
    remedy:
      'Wait for the number of seconds in `Retry-After`; another instance may have the secret. If it lasts, the operator has removed an old secret from `JWT_SECRET`.',
  },
  SHUTTING_DOWN: {
    status: 503,
    retryAfterSeconds: 1,
    detail: 'This instance is shutting down; try again.',
    remedy: 'Wait for the number of seconds in `Retry-After`; another instance answers.',
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    retryAfterSeconds: 2,
    detail: 'The service cannot reach its database; try again.',
    remedy: REPEAT_LATER,
  },
} satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof CATALOG;

/**
 * Every `error_code` of the API. Clients compare these codes. The examples of the OpenAPI document and the page
 * `/docs/errors` come from this catalog, and the tests hold each answer to it.
 */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemEntry>> = CATALOG;
