import { describe, expect, it } from '@jest/globals';
import type { Problem } from '../problems/problem.js';
import { Flag, Id, Metadata, OneOf, Text, TextList } from './fields.js';
import { readRequest } from './request.js';

const KIB = 1024;

class MetadataDto {
  @Metadata({ nullable: true })
  metadata!: object | null;
}

class ScalarsDto {
  @Text({ optional: true, maxLength: 9 })
  text?: string;

  @Id({ optional: true, lenient: true })
  id?: number;

  @Flag({ optional: true, lenient: true })
  flag?: boolean;

  @OneOf({ optional: true, enum: ['a', 'b'] })
  word?: string;

  @TextList({ optional: true, maxItems: 2, items: { maxLength: 9 } })
  texts?: string[];
}

const read = (metadata: unknown) => readRequest(MetadataDto, { metadata }).metadata;

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
  ])('is kept unchanged: %s', (_, metadata) => {
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

describe('a request', () => {
  it('has the fields that were sent and no others', () => {
    const request = readRequest(ScalarsDto, { text: 'a', unknown: 1, constructor: 'b', toString: 'c' });

    expect(request).toBeInstanceOf(ScalarsDto);
    expect(Object.entries(request)).toEqual([['text', 'a']]);
  });

  it.each(['text', 'id', 'flag', 'word', 'texts'])('rejects an object as %s without reading its fields', (field) => {
    let reads = 0;
    const value = Object.defineProperty({}, 'key', { enumerable: true, get: () => (reads += 1) });

    expect(() => readRequest(ScalarsDto, { [field]: value })).toThrow(new RegExp(`^${field} must`));
    expect(reads).toBe(0);
  });

  it('counts characters as code points, variation selectors included', () => {
    expect(readRequest(ScalarsDto, { text: '😀'.repeat(9) }).text).toHaveLength(18);
    expect(() => readRequest(ScalarsDto, { text: 'x\ufe0f'.repeat(5) })).toThrow('text must have at most 9 characters');
  });

  it('lists each field and item that is wrong', () => {
    const faults = (value: unknown) => {
      try {
        return readRequest(ScalarsDto, value);
      } catch (error) {
        return (error as Problem).fields;
      }
    };

    expect(faults({ id: '1e3', texts: ['a', 5] })).toEqual([
      { field: 'id', rule: 'type', message: 'must be a whole number' },
      { field: 'texts[1]', rule: 'type', message: 'must be text' },
    ]);
    expect(faults([])).toEqual([{ field: 'body', rule: 'type', message: 'must be a JSON object' }]);
  });
});
