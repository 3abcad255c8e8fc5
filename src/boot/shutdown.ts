import { constants } from 'node:os';

/** Longer than any request may take. docs/operations.md counts it into the grace period. */
const STOP_MAX_MS = 20_000;
/** npm forwards the signal that the terminal or a supervisor has sent to the whole process group already. */
const DUPLICATE_SIGNAL_MS = process.env.npm_lifecycle_event === undefined ? 0 : 250;

type StopSignal = 'SIGTERM' | 'SIGINT';

export interface Stoppable {
  /** How long to keep serving after SIGTERM, so that load balancers notice. */
  readonly delayMs: number;
  /** Answers the requests under way, commits what is queued, closes the database, sends the last spans (start.ts). */
  stop(delayMs: number): Promise<void>;
}

/**
 * Stops the service on the first SIGTERM or SIGINT and exits with 0, or with 1 if that fails or takes longer than
 * `delayMs` plus {@link STOP_MAX_MS}. A second signal exits at once. Call it before anything else: process 1 of a
 * container has no default handlers.
 */
export function onStopSignal(starting: Promise<Stoppable>): void {
  let first: { readonly signal: StopSignal; readonly atMs: number } | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (first) {
        const isDuplicate = signal === first.signal && performance.now() - first.atMs < DUPLICATE_SIGNAL_MS;
        if (isDuplicate) return;
        process.exit(128 + constants.signals[signal]);
      }
      first = { signal, atMs: performance.now() };
      stop(starting, signal).then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
          process.exit(1);
        },
      );
    });
  }
}

/** A start is completed before it is stopped, so that no first account exists whose password was never shown. */
async function stop(starting: Promise<Stoppable>, signal: StopSignal): Promise<void> {
  const startTimer = setTimeout(() => process.exit(1), STOP_MAX_MS);
  const started = await starting;
  clearTimeout(startTimer);
  // There is no load balancer to wait for after Ctrl-C.
  const delayMs = signal === 'SIGTERM' ? started.delayMs : 0;
  setTimeout(() => process.exit(1), delayMs + STOP_MAX_MS);
  await started.stop(delayMs);
}
