import { Semaphore } from 'async-mutex';
import { Problem } from '../problems/problem.js';
import { traced } from '../telemetry/tracing.js';
import { KeyedBatcher } from './keyed-batcher.js';

/**
 * Gives a function that runs at most `runsMax` pieces of work at once and lets `waitingMax` more wait their turn.
 * `name` is the name of one run in a trace.
 * @throws Problem `QUEUE_FULL` from that function when no more may wait
 */
export function boundedQueue(name: string, { runsMax, waitingMax }: { runsMax: number; waitingMax: number }) {
  const semaphore = new Semaphore(runsMax);
  let admitted = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (admitted >= runsMax + waitingMax) throw new Problem('QUEUE_FULL');
    admitted += 1;
    try {
      return await semaphore.runExclusive(() => traced(name, {}, work));
    } finally {
      admitted -= 1;
    }
  };
}

/**
 * Like {@link boundedQueue}, but each key has a queue of its own, which lasts as long as it has work.
 * @throws Problem `QUEUE_FULL` from that function when no more may wait for this key
 */
export function keyedQueue(name: string, bounds: { runsMax: number; waitingMax: number }) {
  const queues = new Map<string, { readonly enqueue: ReturnType<typeof boundedQueue>; works: number }>();
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const queue = queues.get(key) ?? { enqueue: boundedQueue(name, bounds), works: 0 };
    queues.set(key, queue);
    queue.works += 1;
    try {
      return await queue.enqueue(work);
    } finally {
      queue.works -= 1;
      if (queue.works === 0) queues.delete(key);
    }
  };
}

/**
 * Gives a function that runs at most `runsMax` pieces of work at once. Keys take turns. One key may have `waitingMax`
 * waiting, and uses at most `runsMax - 1` runs (1 if `runsMax` is 1).
 * @throws Problem `QUEUE_FULL` from that function when no more may wait for this key
 */
export function fairQueue<Result>(name: string, { runsMax, waitingMax }: { runsMax: number; waitingMax: number }) {
  const semaphore = new Semaphore(runsMax);
  const works = new KeyedBatcher<() => Promise<Result>, Result>(
    (_, some) => semaphore.runExclusive(() => Promise.all(some.map(async (work) => ({ result: await work() })))),
    { name, batchMax: 1, waitingMax, runsMax: Math.max(1, runsMax - 1), failsAlone: true },
  );
  return (key: number, work: () => Promise<Result>) => works.submit(key, work);
}
