import { describe, expect, it } from '@jest/globals';
import { Metadata } from './fields.js';
import { readRequest } from './request.pipe.js';

const KIB = 1024;

class RequestDto {
  @Metadata({ nullable: true })
  metadata!: object | null;
}

const read = (metadata: unknown) => readRequest(RequestDto, { metadata }).metadata;

/** `{"a":{"a":…{}}}`. */
function nested(levels: number): object {
  let value = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('metadata', () => {
  it.each([
    ['null', null],
    ['an empty object', {}],
    ['any JSON', { text: 'é\u0001', number: 1.5, yes: true, none: null, list: [1, [2]], object: { a: 1 } }],
    ['8 levels', nested(8)],
    ['8 levels, most of them lists', { a: [[[[[[[]]]]]]] }],
    ['16 KiB', { a: 'x'.repeat(16 * KIB - '{"a":""}'.length) }],
    ['a backslash before the text of a NUL escape', { a: '\\u0000' }],
    ['keys with a meaning in JavaScript', { toString: 'x', length: 3, constructor: 'x', prototype: {}, then: null }],
  ])('stays as it came: %s', (_, metadata) => {
    expect(read(metadata)).toStrictEqual(metadata);
  });

  it.each([
    ['nothing', undefined, 'is required'],
    ['text', 'text', 'must be a JSON object'],
    ['a list', [{ a: 1 }], 'must be a JSON object'],
    ['9 levels', nested(9), 'at most 8 levels'],
    ['9 levels, most of them lists', { a: [[[[[[[[]]]]]]]] }, 'at most 8 levels'],
    ['a hundred thousand levels', nested(100_000), 'at most 8 levels'],
    ['a byte more than 16 KiB', { a: 'x'.repeat(16 * KIB - '{"a":""}'.length + 1) }, 'at most 16384 bytes'],
    ['16 KiB of two-byte characters', { a: 'é'.repeat(8 * KIB) }, 'at most 16384 bytes'],
    ['a list of 200,000 items', { a: Array(200_000).fill(0) }, 'at most 16384 bytes'],
    ['NUL', { a: ['x\0'] }, 'must not contain NUL'],
    ['NUL in a key', { 'a\0': 1 }, 'must not contain NUL'],
    ['NUL after a backslash', { a: '\\\0' }, 'must not contain NUL'],
  ])('is rejected: %s', (_, metadata, rule) => {
    expect(() => read(metadata)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(rule) }),
    );
  });
});
