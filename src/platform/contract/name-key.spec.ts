import { describe, expect, it } from '@jest/globals';
import { nameKey, nameKeyPrefix } from './name-key.js';

const keyOf = (firstName: string | null, lastName: string | null = null) => nameKey({ firstName, lastName });

describe('the key of a name', () => {
  it.each([
    ['the last name before the first', ['Anna', 'Berg'], 'berg anna'],
    ['the only name', ['Anna Berg', null], 'anna berg'],
    ['the last name alone', [null, 'Berg'], 'berg'],
    ['without marks', ['Zoë', 'Şahin-Čapek'], 'sahin-capek zoe'],
    ['the same however its letters are composed', ['Zoe\u0308', 'Ş'], 's zoe'],
    ['without the mark that lower case splits off', ['İpek', null], 'ipek'],
    ['with compatibility characters', ['ﬁona', '１'], '1 fiona'],
    ['with single spaces', ['  Anna\u00a0 Maria ', 'Berg'], 'berg anna maria'],
    ['cut to 100 characters', ['x', '😀'.repeat(150)], '😀'.repeat(100)],
    ['cut to 100 characters, without a space at the end', ['Anna', 'b'.repeat(99)], 'b'.repeat(99)],
  ] as const)('is %s', (_, [first, last], key) => {
    expect(keyOf(first, last)).toBe(key);
  });

  it.each([[null], [' '], ['\u0301']])('is null for no name (%j)', (name) => {
    expect(keyOf(name)).toBeNull();
  });

  it.each([
    ['BERG A', 'Anna', 'Berg'],
    ['Sa', 'Zoë', 'Şahin'],
    ['ΟΔΟΣ', 'ΟΔΟΣΑ', null],
    ['김', '김치', null],
    ['b'.repeat(150), 'Anna', 'b'.repeat(200)],
  ])('begins with the key of its beginning, %s', (typed, first, last) => {
    expect(keyOf(first, last)?.startsWith(nameKeyPrefix(typed))).toBe(true);
    expect(nameKeyPrefix(typed)).not.toBe('');
  });
});
