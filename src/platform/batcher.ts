import { type Context, context } from '@opentelemetry/api';
import { isUnavailable, Problem } from './problems/problem.js';
import { tracedTogether } from './telemetry/tracing.js';

/** What became of one command: its own result, or its own error. */
export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

export interface BatchBounds<Command> {
  /** What a run is called in a trace. */
  readonly name: string;
  /** Weight that one run carries; a heavier command runs alone. */
  readonly batchMax: number;
  /** How much a command weighs; 1 if not said. */
  readonly weightOf?: (command: Command) => number;
  /** Weight that may wait. */
  readonly waitingMax: number;
  readonly runsMax: number;
  /** Called when all that was submitted has been carried out. */
  readonly onIdle?: () => void;
}

interface Waiting<Command, Result> {
  readonly command: Command;
  readonly weight: number;
  /** Whose trace it belongs to: a run is for several. */
  readonly context: Context;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the commands that arrive while a run is under way and carries them out together in the next: group commit at
 * the level of the application. There is no timer, so an idle line runs a command at once and alone.
 */
export class Batcher<Command, Result> {
  private readonly waiting: Waiting<Command, Result>[] = [];
  private waitingWeight = 0;
  private runs = 0;
  private readonly whenIdle: (() => void)[] = [];

  /** `run` answers with one outcome a command, in their order. */
  constructor(
    private readonly run: (commands: Command[]) => Promise<readonly Outcome<Result>[]>,
    private readonly bounds: BatchBounds<Command>,
  ) {}

  /** @throws Problem `unavailable` when the line is full */
  submit(command: Command): Promise<Result> {
    if (this.waitingWeight >= this.bounds.waitingMax) {
      throw new Problem('QUEUE_FULL');
    }
    const weight = this.bounds.weightOf?.(command) ?? 1;
    this.waitingWeight += weight;
    const result = new Promise<Result>((resolve, reject) =>
      this.waiting.push({ command, weight, context: context.active(), resolve, reject }),
    );
    if (this.runs < this.bounds.runsMax) void this.work();
    return result;
  }

  /** How many commands wait for their run. */
  get length(): number {
    return this.waiting.length;
  }

  get isIdle(): boolean {
    return this.runs === 0;
  }

  /** Resolves when all that was submitted has been answered. */
  async drained(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
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
      this.giveUpWaiting(outcomes.find((outcome) => 'error' in outcome && isUnavailable(outcome.error)));
      batch.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('A batch answered fewer outcomes than it had commands'));
        else if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.result);
      });
    } catch (error) {
      this.giveUpWaiting(isUnavailable(error) ? { error } : undefined);
      for (const { reject } of batch) reject(error);
    }
  }

  /**
   * Where one run found the database away, or did not end in its time, those who wait are refused with it, however short
   * they have waited: they want the same database, and writers the same lock of it. Tried in turn while it stands still,
   * each batch would take a run's whole time, all but the first be answered too late, and the line be full of commands
   * whose callers are gone when the database is back. Where only this run was slow, they come again after `Retry-After`.
   */
  private giveUpWaiting(failure: Outcome<Result> | undefined): void {
    if (failure && 'error' in failure) for (const { reject } of this.take(this.waiting.length)) reject(failure.error);
  }
}
