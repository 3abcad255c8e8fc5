import { constants } from 'node:os';

/** Longer than any request may take; what hangs beyond it is given up. docs/operations.md counts it into the grace. */
const STOP_MAX_MS = 20_000;
/** npm passes on the Ctrl-C that the terminal has sent to the whole group: two signals, one wish. */
const SAME_WISH_MS = 250;

type StopSignal = 'SIGTERM' | 'SIGINT';

/**
 * On the first SIGTERM or SIGINT runs `stop` and ends the process with 0, or with 1 when it fails or takes `delayMs`
 * plus {@link STOP_MAX_MS}. A second signal ends it at once. Call it before anything else: process 1 of a container
 * has no default for these signals.
 */
export function onStopSignal(delayMs: number, stop: (signal: StopSignal) => Promise<void>): void {
  let stoppingSinceMs: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stoppingSinceMs !== undefined) {
        if (performance.now() - stoppingSinceMs > SAME_WISH_MS) process.exit(128 + constants.signals[signal]);
        return;
      }
      stoppingSinceMs = performance.now();
      setTimeout(() => process.exit(1), delayMs + STOP_MAX_MS);
      stop(signal).then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
          process.exit(1);
        },
      );
    });
  }
}
