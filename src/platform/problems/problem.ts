import { type ProblemCode, PROBLEMS } from './problem-catalog.js';
import type { Rule } from './rule.js';

/** A problem names at most one fault of each field. */
export interface FieldFault {
  /** Path of the field as the client wrote it: `waiters[0].id`. */
  readonly field: string;
  readonly rule: Rule;
  /** The rest of a sentence that begins with the field. */
  readonly message: string;
}

/** A body can have a hundred thousand faults; the caller needs only the first ones. */
export const FAULTS_MAX = 20;
/** The path of a field is the client's own text, which can be as long as a body. */
export const FIELD_LENGTH_MAX = 512;

interface ProblemDetails {
  /** Shown to the caller instead of the catalog's message; never another person's data. */
  readonly detail?: string;
  readonly fields?: readonly FieldFault[];
  /** Replaces the catalog's value. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** A failure that the caller can understand and act on. The catalog defines its status and message. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly fields: readonly FieldFault[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: ProblemCode,
    { detail, fields, retryAfterSeconds, cause }: ProblemDetails = {},
  ) {
    const entry = PROBLEMS[code];
    super(detail ?? entry.detail, { cause });
    this.status = entry.status;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds ?? entry.retryAfterSeconds;
  }

  /** Fields that are invalid on every waitlist. */
  static invalid(faults: readonly FieldFault[]): Problem {
    return withFaults('INVALID_REQUEST', faults);
  }

  /** Fields that break a rule of this waitlist. */
  static ruleBroken(faults: readonly FieldFault[]): Problem {
    return withFaults('WAITLIST_RULE_BROKEN', faults);
  }
}

function withFaults(code: ProblemCode, faults: readonly FieldFault[]): Problem {
  const fields: FieldFault[] = [];
  for (const fault of faults) {
    if (fields.length === FAULTS_MAX) break;
    const field = fault.field.slice(0, FIELD_LENGTH_MAX).toWellFormed();
    if (fields.every((other) => other.field !== field)) fields.push({ ...fault, field });
  }
  const sentences = fields.map(({ field, message }) => `${field} ${message}`);
  if (faults.length > fields.length) sentences.push(`and ${faults.length - fields.length} more`);
  return new Problem(code, { detail: sentences.join('; '), fields });
}

/** Whether the work failed because something is unreachable or full, and may succeed later. */
export function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 503;
}

/** Does nothing if the waitlist was deleted meanwhile. */
export async function unlessDeleted(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'WAITLIST_NOT_FOUND')) throw error;
  }
}
