import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { chunksOf } from '../database/dialect.js';

/** Items in memory at once: a hundred records with all their answers and metadata are some 6 MiB. */
const ITEMS_MAX = 100;

/**
 * Answers with a JSON array of the items that `read` finds for `keys`. More than {@link ITEMS_MAX} are read and sent in
 * parts, as fast as the client takes them: a long answer needs no more memory than a short one, and other requests are
 * served between its parts. A failure of the first part is answered with a problem; a later one ends the connection.
 */
export async function jsonArray<Key, Item extends object>(
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<Item[]>,
): Promise<Item[] | StreamableFile> {
  const [first, ...others] = chunksOf(keys, ITEMS_MAX);
  if (!first) return [];
  const items = await read(first);
  if (others.length === 0) return items;
  const text = Readable.from(textOf(partsOf(items, others, read)), { objectMode: false });
  return new StreamableFile(text, { type: 'application/json; charset=utf-8' });
}

async function* partsOf<Key, Item>(
  first: readonly Item[],
  others: readonly (readonly Key[])[],
  read: (keys: readonly Key[]) => Promise<Item[]>,
): AsyncGenerator<readonly Item[]> {
  yield first;
  for (const keys of others) yield await read(keys);
}

/** Yields the text item by item, to hold little of it in memory. */
async function* textOf(parts: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let separator = '[';
  for await (const items of parts) {
    for (const item of items) {
      yield separator + JSON.stringify(item);
      separator = ',';
    }
  }
  yield separator === '[' ? '[]' : ']';
}
