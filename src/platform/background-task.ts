import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { safeError } from './problems/problem.filter.js';
import { isUnavailable } from './problems/problem.js';

/** The operator's log. No line names a person. */
export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** All background tasks of the process: services add their own. The service starts them at its start, the CLI never. */
@Injectable()
export class BackgroundTasks implements BeforeApplicationShutdown {
  private readonly added: { readonly task: BackgroundTask; readonly failure: string }[] = [];
  /** Writes nothing before the start. */
  log: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

  /** `failure` is the line in the log when a run fails, except if the database is unavailable. */
  add(task: BackgroundTask, failure: string): void {
    this.added.push({ task, failure });
  }

  startAll(log: Log): void {
    this.log = log;
    for (const { task, failure } of this.added) task.start((error) => log.error({ error: safeError(error) }, failure));
  }

  /** Starts nothing more, and resolves when the current runs have ended. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.added.map(({ task }) => task.stop()));
  }
}

/** Work at intervals, and at once after `wake`. One run at a time. A failed run is repeated at the next interval. */
export class BackgroundTask {
  private running: Promise<void> | undefined;
  private isWanted = false;
  private timer: NodeJS.Timeout | undefined;
  private onFailure: (error: unknown) => void = () => undefined;
  isStarted = false;
  /** Long work checks this between its steps. */
  isStopped = false;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly intervalMs: number,
  ) {}

  /** `onFailure` gets every error except an unavailable database. */
  start(onFailure: (error: unknown) => void): void {
    this.isStarted = true;
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
