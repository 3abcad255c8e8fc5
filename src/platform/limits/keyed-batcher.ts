import { type BatchBounds, Batcher, type Outcome } from './batcher.js';

/** A {@link Batcher} for each key that has commands: the commands of one key never wait for those of another. */
export class KeyedBatcher<Command, Result> {
  private readonly batchers = new Map<number, Batcher<Command, Result>>();

  /** The bounds are those of each key. */
  constructor(
    private readonly run: (key: number, commands: Command[]) => Promise<readonly Outcome<Result>[]>,
    private readonly bounds: Omit<BatchBounds<Command>, 'onIdle'>,
  ) {}

  /** The number of commands that wait for their run, over all keys. */
  get length(): number {
    return [...this.batchers.values()].reduce((sum, batcher) => sum + batcher.length, 0);
  }

  /** @throws Problem `QUEUE_FULL` */
  submit(key: number, command: Command): Promise<Result> {
    let batcher = this.batchers.get(key);
    if (!batcher) {
      const onIdle = () => this.batchers.delete(key);
      batcher = new Batcher((commands) => this.run(key, commands), { ...this.bounds, onIdle });
      this.batchers.set(key, batcher);
    }
    return batcher.submit(command);
  }

  /** Resolves when all submitted commands have been answered. */
  async drained(): Promise<void> {
    await Promise.all(Array.from(this.batchers.values(), (batcher) => batcher.drained()));
  }
}
