import { constants } from 'node:os';
import { isUnderNpm } from './under-npm.js';

/** Longer than any request may take; what hangs beyond it is given up. docs/operations.md counts it into the grace. */
const STOP_MAX_MS = 20_000;
/** Where npm is the parent itself, it passes on the signal that the terminal or a supervisor has sent to the whole group: one wish. */
const SAME_WISH_MS = isUnderNpm ? 250 : 0;

type StopSignal = 'SIGTERM' | 'SIGINT';

export interface Stoppable {
  /** How long a stop lets balancers notice. */
  readonly delayMs: number;
  /** Answers whoever is being served, empties the line of writers, closes the database's connections, and sends the last spans. */
  stop(delayMs: number): Promise<void>;
}

/**
 * On the first SIGTERM or SIGINT stops what has started and ends the process with 0, or with 1 when it fails or takes its
 * `delayMs` plus {@link STOP_MAX_MS}. A second signal ends it at once. Call it before anything else: process 1 of a container
 * has no default for these signals.
 */
export function onStopSignal(starting: Promise<Stoppable>): void {
  let first: { readonly signal: StopSignal; readonly atMs: number } | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (first) {
        const isSameWish = signal === first.signal && performance.now() - first.atMs < SAME_WISH_MS;
        if (isSameWish) return;
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

/** A signal during the start waits for its end, so that no first account is made whose password nobody saw. */
async function stop(starting: Promise<Stoppable>, signal: StopSignal): Promise<void> {
  const waiting = setTimeout(() => process.exit(1), STOP_MAX_MS);
  const started = await starting;
  clearTimeout(waiting);
  // A person's Ctrl-C has no balancer to wait for.
  const delayMs = signal === 'SIGTERM' ? started.delayMs : 0;
  setTimeout(() => process.exit(1), delayMs + STOP_MAX_MS);
  await started.stop(delayMs);
}
