import { setImmediate } from 'node:timers/promises';

/** What comes of doing something over and over while other work is under way, once at least. */
export async function during<Result>(work: Promise<unknown>, again: () => Promise<Result>): Promise<Result[]> {
  const over = new AbortController();
  const end = work.finally(() => over.abort());
  // Thrown below, once what is under way has ended.
  end.catch(() => undefined);
  const results: Result[] = [];
  do {
    results.push(await again());
    // Calls without a port are answered within one turn of the event loop; the others must get theirs.
    await setImmediate();
  } while (!over.signal.aborted);
  await end;
  return results;
}
