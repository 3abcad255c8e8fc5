import { describe, expect, it } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import { jsonArray } from './json-array.js';

const KEYS = Array.from({ length: 250 }, (_, index) => index);

const found = (keys: readonly number[]) => Promise.resolve(keys.map((key) => ({ key })));

async function textOf(answer: object[] | StreamableFile): Promise<string> {
  if (!(answer instanceof StreamableFile)) return JSON.stringify(answer);
  const parts: Buffer[] = [];
  for await (const part of answer.getStream()) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

describe('a JSON array', () => {
  it.each([0, 1, 100, 101, 250])('of %d items is the same text whole or in parts', async (count) => {
    const keys = KEYS.slice(0, count);

    expect(await textOf(await jsonArray(keys, found))).toBe(JSON.stringify(await found(keys)));
  });

  it('leaves out what is not found, even if it is everything', async () => {
    const odd = await jsonArray(KEYS, (keys) => found(keys.filter((key) => key >= 100 && key % 2 === 1)));
    const nothing = await jsonArray(KEYS, () => found([]));

    expect(JSON.parse(await textOf(odd))).toHaveLength(75);
    expect(await textOf(nothing)).toBe('[]');
  });

  it('reads a part when its reader takes it, and no more after the reader has gone', async () => {
    const reads: number[] = [];
    const answer = (await jsonArray(KEYS, (keys) => {
      reads.push(keys.length);
      return Promise.resolve(keys.map((key) => ({ key, text: 'x'.repeat(16 * 1024) })));
    })) as StreamableFile;
    expect(reads).toEqual([100]);

    for await (const part of answer.getStream()) if (String(part).includes('{"key":150')) break;

    expect(reads).toEqual([100, 100]);
  });

  it('fails before it has begun if its first part fails, and at once if a later one does', async () => {
    const failing = (first: number) => (keys: readonly number[]) =>
      keys.includes(first) ? Promise.reject(new Error('away')) : found(keys);

    await expect(jsonArray(KEYS, failing(0))).rejects.toThrow('away');
    await expect(textOf(await jsonArray(KEYS, failing(200)))).rejects.toThrow('away');
  });
});
