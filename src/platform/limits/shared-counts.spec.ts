import { expect, it } from '@jest/globals';
import { readConfig } from '../config/config.js';
import { KEYS_MAX, SharedCounts } from './shared-counts.js';

it('a counter keeps a bounded number of keys in memory and forgets the one not counted for longest', async () => {
  const counts = new SharedCounts(readConfig({ JWT_SECRET: 'a-secret-that-signs-tokens-in-tests-only' }));
  const counter = counts.counter('test', 86_400);
  const countOf = async (key: string) => (await counter.get(key))?.consumedPoints;

  await counter.penalty('old');
  await counter.penalty('busy');
  for (let index = 2; index < KEYS_MAX; index += 1) await counter.penalty(`stranger ${index}`);
  await counter.penalty('busy');
  expect(await countOf('old')).toBe(1);
  await counter.penalty('one too many');

  expect(await countOf('old')).toBeUndefined();
  expect([await countOf('busy'), await countOf('stranger 2'), await countOf('one too many')]).toEqual([2, 1, 1]);
});
