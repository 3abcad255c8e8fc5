import { describe, expect, it } from '@jest/globals';
import { checkMetadata } from './metadata.js';

const KIB = 1024;

/** `{"a":{"a":…{}}}`. */
function nested(levels: number): object {
  let value = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('metadata', () => {
  it.each([
    ['nothing', null],
    ['an empty object', {}],
    ['any JSON', { text: 'é\u0001', number: 1.5, yes: true, none: null, list: [1, [2]], object: { a: 1 } }],
    ['8 levels', nested(8)],
    ['lists on the way to 8 levels', { a: [[[[[[[]]]]]]] }],
    ['16 KiB', { a: 'x'.repeat(16 * KIB - '{"a":""}'.length) }],
    ['keys that mean something elsewhere', { toString: 'x', length: 3, hasOwnProperty: null }],
  ])('may be %s', (_, metadata) => {
    expect(() => checkMetadata(metadata as never)).not.toThrow();
  });

  it.each([
    ['9 levels', nested(9), 'at most 8 levels'],
    ['9 levels of lists', { a: [[[[[[[[]]]]]]]] }, 'at most 8 levels'],
    ['a hundred thousand levels', nested(100_000), 'at most 8 levels'],
    ['a byte more than 16 KiB', { a: 'x'.repeat(16 * KIB - '{"a":""}'.length + 1) }, 'at most 16384 bytes'],
    ['16 KiB of two-byte characters', { a: 'é'.repeat(8 * KIB) }, 'at most 16384 bytes'],
    ['a list of 200,000', { a: Array(200_000).fill(0) }, 'at most 16384 bytes'],
  ])('must not have %s', (_, metadata, rule) => {
    expect(() => checkMetadata(metadata as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(rule) }),
    );
  });
});
