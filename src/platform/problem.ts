import type { ProblemCode } from './http/problem-catalog.js';

/** What went wrong, in words of the business; only `platform/http` knows the status of each. */
export type ProblemKind =
  'invalid' | 'unauthenticated' | 'forbidden' | 'not_found' | 'conflict' | 'rule_broken' | 'throttled' | 'unavailable';

export interface FieldFault {
  /** Path of the field as the client wrote it: `waiters[0].id`. */
  readonly field: string;
  readonly message: string;
}

/** Of one request; more tell the caller nothing new, and a body can hold a hundred thousand. */
export const FAULTS_MAX = 20;
/** A field's path is the client's own text, which can be as long as a body. */
export const FIELD_LENGTH_MAX = 512;

/**
 * An outcome that the caller can understand and act upon. `code` is upper snake case and stable: clients compare it.
 * The message is shown to the caller, so it never holds another person's data.
 */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly kind: ProblemKind,
    readonly code: ProblemCode,
    message: string,
    readonly details: {
      readonly fields?: readonly FieldFault[];
      readonly retryAfterSeconds?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
  }

  /** Faults of the request, whatever waitlist it is for. */
  static invalid(fields: readonly FieldFault[]): Problem {
    return withFaults('invalid', 'INVALID_REQUEST', fields);
  }

  /** Faults against what this waitlist's owner configured. */
  static ruleBroken(fields: readonly FieldFault[]): Problem {
    return withFaults('rule_broken', 'WAITLIST_RULE_BROKEN', fields);
  }
}

function withFaults(kind: ProblemKind, code: ProblemCode, faults: readonly FieldFault[]): Problem {
  const fields = faults
    .slice(0, FAULTS_MAX)
    .map(({ field, message }) => ({ field: field.slice(0, FIELD_LENGTH_MAX).toWellFormed(), message }));
  const sentences = fields.map(({ field, message }) => `${field} ${message}`);
  if (faults.length > fields.length) sentences.push(`and ${faults.length - fields.length} more`);
  return new Problem(kind, code, sentences.join('; '), { fields });
}

/** Whether the work failed because something it needs is away, not because of what it is. */
export function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.kind === 'unavailable';
}
