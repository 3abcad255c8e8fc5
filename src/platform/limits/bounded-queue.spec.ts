import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Problem } from '../problems/problem.js';
import { fairQueue, keyedQueue } from './bounded-queue.js';

const [CROWDED, OTHER] = [1, 2];

/** Work that ends when the test says so. */
function controlled(runsMax: number) {
  const enqueue = fairQueue<string>('test', { runsMax, waitingMax: 3 });
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const submit = (waitlistId: number, name: string) =>
    enqueue(waitlistId, () => {
      started.push(name);
      return new Promise((resolve) => ends.push(() => resolve(name)));
    });
  return { started, ends, submit };
}

describe('a queue that is fair to waitlists', () => {
  it('leaves a run to other waitlists, however much one asks for', async () => {
    const { started, submit } = controlled(2);

    for (const name of ['a', 'b', 'c']) void submit(CROWDED, name);
    void submit(OTHER, 'other');
    await setImmediate();

    expect(started).toEqual(['a', 'other']);
  });

  it('lets waitlists take turns at a single run', async () => {
    const { started, ends, submit } = controlled(1);

    const works = [submit(CROWDED, 'a'), submit(CROWDED, 'b'), submit(OTHER, 'other')];
    for (const index of works.keys()) {
      while (!ends[index]) await setImmediate();
      ends[index]();
    }

    expect(await Promise.all(works)).toEqual(['a', 'b', 'other']);
    expect(started).toEqual(['a', 'other', 'b']);
  });

  it('lets a piece of work that is too slow fail alone', async () => {
    const enqueue = fairQueue<string>('test', { runsMax: 1, waitingMax: 3 });

    const works = [
      enqueue(CROWDED, async () => Promise.reject(new Problem('DATABASE_UNAVAILABLE'))),
      enqueue(CROWDED, async () => 'next'),
    ];

    expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('refuses a waitlist that has too much waiting, and no other', async () => {
    const { submit } = controlled(2);
    for (const name of ['a', 'b', 'c', 'd']) void submit(CROWDED, name);

    await expect(async () => submit(CROWDED, 'e')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    void submit(OTHER, 'other');
  });
});

describe('a queue for each key', () => {
  it('runs the works of a key one after the other, and those of other keys meanwhile', async () => {
    const enqueue = keyedQueue('test', { runsMax: 1, waitingMax: 1 });
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const submit = (key: string, name: string) =>
      enqueue(key, () => {
        started.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      });

    const works = [submit('one', 'a'), submit('one', 'b'), submit('other', 'c')];
    await expect(submit('one', 'too many')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await setImmediate();
    expect(started).toEqual(['a', 'c']);
    for (const index of works.keys()) {
      while (!ends[index]) await setImmediate();
      ends[index]();
    }
    await Promise.all(works);

    expect(started).toEqual(['a', 'c', 'b']);
  });

  it('goes on after a work that fails', async () => {
    const enqueue = keyedQueue('test', { runsMax: 1, waitingMax: 1 });

    const works = [enqueue('one', async () => Promise.reject(new Error('failed'))), enqueue('one', async () => 'next')];

    expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});
