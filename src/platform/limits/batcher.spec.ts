import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type BatchBounds, Batcher, type Outcome } from './batcher.js';
import { Problem } from '../problems/problem.js';

const BOUNDS = { name: 'test', batchMax: 3, waitingMax: 5, runsMax: 1 };

const AWAY = new Problem('DATABASE_UNAVAILABLE');

/** Runs that end when the test says so. */
function controlled(bounds: Partial<BatchBounds<number>> = {}) {
  const batches: number[][] = [];
  const ends: ((outcomes?: Outcome<string>[]) => void)[] = [];
  const batcher = new Batcher<number, string>(
    (commands) => {
      batches.push(commands);
      return new Promise((resolve) => {
        ends.push((outcomes) => resolve(outcomes ?? commands.map((command) => ({ result: `done ${command}` }))));
      });
    },
    { ...BOUNDS, ...bounds },
  );
  /** Ends a run once it has begun. */
  const end = async (run: number, outcomes?: Outcome<string>[]) => {
    while (!ends[run]) await setImmediate();
    ends[run](outcomes);
  };
  return { batcher, batches, end };
}

describe('a batcher', () => {
  it('runs the first command at once and alone', async () => {
    const { batcher, batches, end } = controlled();

    const result = batcher.submit(1);
    expect(batches).toEqual([[1]]);
    await end(0);

    expect(await result).toBe('done 1');
  });

  it('runs the commands that arrive during a run together, in order and at most a batch at a time', async () => {
    const { batcher, batches, end } = controlled();

    const results = [1, 2, 3, 4, 5].map((command) => batcher.submit(command));
    expect(batcher.length).toBe(4);
    for (const run of [0, 1, 2]) await end(run);

    expect(await Promise.all(results)).toEqual(['done 1', 'done 2', 'done 3', 'done 4', 'done 5']);
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
  });

  it('starts at most `runsMax` runs at once', () => {
    const { batcher, batches } = controlled({ runsMax: 2 });

    for (const command of [1, 2, 3]) void batcher.submit(command);

    expect(batches).toEqual([[1], [2]]);
  });

  it('gives each caller its own error and does not affect the others of the run', async () => {
    const { batcher, end } = controlled();
    const [, second, third] = [1, 2, 3].map((command) => batcher.submit(command));
    await end(0);
    await end(1, [{ error: new Error('only the second') }, { result: 'done 3' }]);

    await expect(second).rejects.toThrow('only the second');
    expect(await third).toBe('done 3');
  });

  it('gives all callers of a run the error that ended it, and goes on', async () => {
    let isBroken = true;
    const batcher = new Batcher<number, number>(async (commands) => {
      if (isBroken) throw new Error('the run failed');
      return commands.map((result) => ({ result }));
    }, BOUNDS);

    await expect(batcher.submit(1)).rejects.toThrow('the run failed');
    isBroken = false;

    expect(await batcher.submit(2)).toBe(2);
  });

  it.each<[string, () => Promise<Outcome<number>[]>]>([
    ['an outcome', async () => [{ error: AWAY }]],
    ['the error', () => Promise.reject(AWAY)],
  ])('fails all waiting commands if %s of a run says that the database is unavailable', async (_, fail) => {
    let runs = 0;
    const batcher = new Batcher<number, number>(
      () => {
        runs += 1;
        return fail();
      },
      { ...BOUNDS, batchMax: 1 },
    );

    const results = await Promise.allSettled([1, 2, 3].map((command) => batcher.submit(command)));

    expect(results).toEqual(results.map(() => ({ status: 'rejected', reason: AWAY })));
    expect(runs).toBe(1);
  });

  it('rejects a command for which a run returns no outcome', async () => {
    const { batcher, end } = controlled();
    const result = batcher.submit(1);

    await end(0, []);

    await expect(result).rejects.toThrow('fewer outcomes');
  });

  it('refuses at once when the queue is full, with the time after which to retry', () => {
    const { batcher } = controlled();
    for (const command of [1, 2, 3, 4, 5, 6]) void batcher.submit(command);

    expect(() => batcher.submit(7)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL', retryAfterSeconds: 1 }));
  });

  it('counts a heavy command with its weight in a run and in the queue', async () => {
    const { batcher, batches, end } = controlled({ weightOf: (command) => command });
    const results = [2, 2, 1, 2].map((command) => batcher.submit(command));

    expect(() => batcher.submit(1)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
    for (const run of [0, 1, 2]) await end(run);

    await Promise.all(results);
    expect(batches).toEqual([[2], [2, 1], [2]]);
    void batcher.submit(1);
  });

  it('is drained when every submitted command has been answered', async () => {
    let idled = 0;
    const { batcher, end } = controlled({ onIdle: () => (idled += 1) });
    const answered: string[] = [];
    const results = [1, 2].map((command) => batcher.submit(command).then((result) => answered.push(result)));
    const drained = batcher.drained().then(() => [...answered]);

    await end(0);
    await end(1);
    await Promise.all(results);

    expect(await drained).toEqual(['done 1', 'done 2']);
    expect(idled).toBe(1);
    await batcher.drained();
  });
});
