import { isForProgrammers, wordsOfAll, wordsOfProblem } from './fault-words';

/** One field that the service refuses, and why. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
  readonly rule: string;
}

interface ProblemBody {
  readonly status: number;
  readonly error_code: string;
  readonly detail: string;
  readonly errors?: readonly FieldFault[];
}

/** A refusal by the service (RFC 9457). `message` is its `detail`. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly faults: readonly FieldFault[] = [],
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(detail);
  }

  static from({ status, error_code, detail, errors }: ProblemBody, retryAfter: string | null = null): Problem {
    return new Problem(status, error_code, detail, errors, retryAfter === null ? null : Number(retryAfter));
  }

  /** For an answer that is not the service's own, but that of a proxy in front of it. */
  static ofProxy(status: number): Problem {
    const detail =
      status === 413
        ? 'A proxy in front of the service rejected the upload as too large. Send less, or ask the operator to raise its limit.'
        : 'The service cannot be reached right now.';
    return new Problem(status, 'UNAVAILABLE', detail);
  }

  /** That of a failed response. */
  static async of(response: Response): Promise<Problem> {
    const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json');
    if (!isProblem) return Problem.ofProxy(response.status);
    return Problem.from((await response.json()) as ProblemBody, response.headers.get('retry-after'));
  }
}

/** Whether the service may have done the request that failed: not after a refusal. */
export function mayHaveArrived(error: unknown): boolean {
  return !(error instanceof Problem && error.status < 500);
}

/** A sentence for any error of a request, that of a lost connection included. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Problem)) return 'No connection to the service. Check your network, then try again.';
  const words = wordsOfProblem(error.code);
  if (words !== undefined) return words;
  return isForProgrammers(error.message) ? wordsOfAll(error.faults) : error.message;
}
