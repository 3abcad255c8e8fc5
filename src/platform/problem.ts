import type { ProblemCode, ProblemKind } from './problem-codes.js';

export interface FieldFault {
  /** Path of the field as the client wrote it: `waiters[0].id`. */
  readonly field: string;
  readonly message: string;
}

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
    return new Problem('invalid', 'INVALID_REQUEST', summary(fields), { fields });
  }

  /** Faults against what this waitlist's owner configured. */
  static ruleBroken(fields: readonly FieldFault[]): Problem {
    return new Problem('rule_broken', 'WAITLIST_RULE_BROKEN', summary(fields), { fields });
  }
}

function summary(fields: readonly FieldFault[]): string {
  return fields.map(({ field, message }) => `${field} ${message}`).join('; ');
}
