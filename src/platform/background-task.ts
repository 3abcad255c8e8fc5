import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { isUnavailable } from './problems/problem.js';

/**
 * Work that a process repeats in the background: at intervals, and at once after `wake`. One run at a time. A failed run
 * is repeated at the next interval.
 */
export class BackgroundTask {
  private running: Promise<void> | undefined;
  private isWanted = false;
  private timer: NodeJS.Timeout | undefined;
  private onFailure: (error: unknown) => void = () => undefined;
  /** Long work checks this between its steps. */
  isStopped = false;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly intervalMs: number,
  ) {}

  /** `onFailure` gets every error except an unavailable database. */
  start(onFailure: (error: unknown) => void): void {
    this.onFailure = onFailure;
    this.timer = setInterval(() => this.wake(), this.intervalMs).unref();
    this.wake();
  }

  /** Runs now, or once more after the current run. */
  wake(): void {
    this.isWanted = true;
    // Outside of a request's trace, which ends with its answer.
    this.running ??= context.with(ROOT_CONTEXT, () => this.run());
  }

  /** Starts nothing more, and resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.timer);
    await this.running;
  }

  /** Runs a step whose failure must not keep the next steps from running. */
  async attempt(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!isUnavailable(error)) this.onFailure(error);
    }
  }

  private async run(): Promise<void> {
    while (this.isWanted && !this.isStopped) {
      this.isWanted = false;
      await this.attempt(this.work);
    }
    // No `await` may come between the last check of `isWanted` and this, or a `wake` would be lost.
    this.running = undefined;
  }
}
