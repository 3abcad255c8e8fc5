import { expect, it } from '@jest/globals';
import { readConfig } from '../config/config.js';
import { KEYS_MAX, SharedCounts } from './shared-counts.js';

it('a limit keeps so many keys in this process, and forgets the one first that was not counted for longest', async () => {
  const counts = new SharedCounts(readConfig({ JWT_SECRET: 'test-secret-test-secret-test-secret' }));
  const limiter = counts.limiter('test', { points: 1, windowSeconds: 86_400 });
  const countOf = async (key: string) => (await limiter.get(key))?.consumedPoints;

  await limiter.penalty('old');
  await limiter.penalty('busy');
  for (let index = 2; index < KEYS_MAX; index += 1) await limiter.penalty(`stranger ${index}`);
  await limiter.penalty('busy');
  expect(await countOf('old')).toBe(1);
  await limiter.penalty('one too many');

  expect(await countOf('old')).toBeUndefined();
  expect([await countOf('busy'), await countOf('stranger 2'), await countOf('one too many')]).toEqual([2, 1, 1]);

  await Promise.all(Array.from({ length: KEYS_MAX }, (_, index) => limiter.consume(`crowd ${index}`)));
  expect([await countOf('busy'), await countOf('crowd 0')]).toEqual([undefined, 1]);
});
