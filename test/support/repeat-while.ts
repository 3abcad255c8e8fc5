import { setImmediate } from 'node:timers/promises';

/** Repeats `call` until `work` has ended, at least once, and returns all results; throws what `work` throws. */
export async function repeatWhile<Result>(work: Promise<unknown>, call: () => Promise<Result>): Promise<Result[]> {
  const over = new AbortController();
  const end = work.finally(() => over.abort());
  // The last await below throws a failure of `work`, after the calls have ended.
  end.catch(() => undefined);
  const results: Result[] = [];
  do {
    results.push(await call());
    // Injected calls are answered within one turn of the event loop; `work` needs turns too.
    await setImmediate();
  } while (!over.signal.aborted);
  await end;
  return results;
}
