import { type Context, context } from '@opentelemetry/api';
import { isUnavailable, Problem } from '../problems/problem.js';
import { tracedTogether } from '../telemetry/tracing.js';

/** The result or the error of one command. */
export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

export interface BatchBounds<Command> {
  /** The name of a run in a trace. */
  readonly name: string;
  /** The total weight of a run; a heavier command runs alone. */
  readonly batchMax: number;
  /** The weight of a command; 1 by default. */
  readonly weightOf?: (command: Command) => number;
  /** The total weight that may wait. */
  readonly waitingMax: number;
  readonly runsMax: number;
  /** A run that found the database unavailable fails alone: those that wait may still succeed. */
  readonly failsAlone?: boolean;
  /** Called when no command is left. */
  readonly onIdle?: () => void;
}

interface Waiting<Command, Result> {
  readonly command: Command;
  readonly weight: number;
  /** The trace of the caller: a run has several callers. */
  readonly context: Context;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the commands that arrive during a run and carries them out together in the next: group commit. There is no
 * timer, so an idle batcher runs a command at once and alone.
 */
export class Batcher<Command, Result> {
  private readonly waiting: Waiting<Command, Result>[] = [];
  private waitingWeight = 0;
  private runs = 0;
  private readonly whenIdle: (() => void)[] = [];

  /** `run` returns one outcome per command, in the same order. */
  constructor(
    private readonly run: (commands: Command[]) => Promise<readonly Outcome<Result>[]>,
    private readonly bounds: BatchBounds<Command>,
  ) {}

  /** @throws Problem `QUEUE_FULL` */
  submit(command: Command): Promise<Result> {
    if (this.waitingWeight >= this.bounds.waitingMax) throw new Problem('QUEUE_FULL');
    const weight = this.bounds.weightOf?.(command) ?? 1;
    this.waitingWeight += weight;
    const result = new Promise<Result>((resolve, reject) =>
      this.waiting.push({ command, weight, context: context.active(), resolve, reject }),
    );
    if (this.runs < this.bounds.runsMax) void this.work();
    return result;
  }

  /** The number of commands that wait for their run. */
  get length(): number {
    return this.waiting.length;
  }

  /** Resolves when all submitted commands have been answered. */
  async drained(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }

  private get isIdle(): boolean {
    return this.runs === 0;
  }

  private async work(): Promise<void> {
    this.runs += 1;
    while (this.waiting.length > 0) {
      const batch = this.take(this.nextBatchLength());
      await this.carryOut(batch);
    }
    this.runs -= 1;
    if (!this.isIdle) return;
    for (const resolve of this.whenIdle.splice(0)) resolve();
    this.bounds.onIdle?.();
  }

  private nextBatchLength(): number {
    let sum = 0;
    const end = this.waiting.findIndex(({ weight }) => (sum += weight) > this.bounds.batchMax);
    return end < 0 ? this.waiting.length : Math.max(1, end);
  }

  private take(count: number): Waiting<Command, Result>[] {
    const taken = this.waiting.splice(0, count);
    for (const { weight } of taken) this.waitingWeight -= weight;
    return taken;
  }

  private async carryOut(batch: Waiting<Command, Result>[]): Promise<void> {
    try {
      const outcomes = await tracedTogether(
        this.bounds.name,
        batch.map(({ context: caller }) => caller),
        () => this.run(batch.map(({ command }) => command)),
      );
      this.failWaiting(outcomes.find((outcome) => 'error' in outcome && isUnavailable(outcome.error)));
      batch.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('A batch answered fewer outcomes than it had commands'));
        else if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.result);
      });
    } catch (error) {
      this.failWaiting(isUnavailable(error) ? { error } : undefined);
      for (const { reject } of batch) reject(error);
    }
  }

  /**
   * If the database was unavailable to a run, or the run exceeded its deadline, all waiting commands fail too: they
   * need the same database and often the same lock. Otherwise each batch would take a whole deadline, and the queue
   * would stay full of commands whose callers gave up. If only this run was slow, callers retry after `Retry-After`.
   */
  private failWaiting(failure: Outcome<Result> | undefined): void {
    if (this.bounds.failsAlone || !failure || !('error' in failure)) return;
    for (const { reject } of this.take(this.waiting.length)) reject(failure.error);
  }
}
