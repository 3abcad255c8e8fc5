import { type ProblemCode, PROBLEMS, type ProblemEntry } from './problem-catalog.js';

export interface FieldFault {
  /** Path of the field as the client wrote it: `waiters[0].id`. */
  readonly field: string;
  readonly message: string;
}

/** More faults of one request tell the caller nothing new, and a body can hold a hundred thousand. */
export const FAULTS_MAX = 20;
/** A field's path is the client's own text, which can be as long as a body. */
export const FIELD_LENGTH_MAX = 512;

interface ProblemDetails {
  /** Shown to the caller instead of the catalog's message; never another person's data. */
  readonly detail?: string;
  readonly fields?: readonly FieldFault[];
  /** Instead of the catalog's. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An outcome that the caller can understand and act upon. The catalog has its status and message. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly fields: readonly FieldFault[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: ProblemCode,
    { detail, fields, retryAfterSeconds, cause }: ProblemDetails = {},
  ) {
    const entry: ProblemEntry = PROBLEMS[code];
    super(detail ?? entry.detail, { cause });
    this.status = entry.status;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds ?? entry.retryAfterSeconds;
  }

  /** Malformed fields of a request, whatever its waitlist. */
  static invalid(faults: readonly FieldFault[]): Problem {
    return withFaults('INVALID_REQUEST', faults);
  }

  /** Fields that break a rule of this waitlist. */
  static ruleBroken(faults: readonly FieldFault[]): Problem {
    return withFaults('WAITLIST_RULE_BROKEN', faults);
  }
}

function withFaults(code: ProblemCode, faults: readonly FieldFault[]): Problem {
  const fields = faults
    .slice(0, FAULTS_MAX)
    .map(({ field, message }) => ({ field: field.slice(0, FIELD_LENGTH_MAX).toWellFormed(), message }));
  const sentences = fields.map(({ field, message }) => `${field} ${message}`);
  if (faults.length > fields.length) sentences.push(`and ${faults.length - fields.length} more`);
  return new Problem(code, { detail: sentences.join('; '), fields });
}

/** Whether the work failed because something that it needs is away or full, and may succeed later. */
export function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 503;
}
