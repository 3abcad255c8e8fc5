import { describe, expect, it } from '@jest/globals';
import type { StoredWaiter } from '../queue/record/waiter.js';
import { COLUMNS, type Column } from './column-names.js';
import { type Cells, readLine, toCell, valuesOf } from './columns.js';

const WAITER: StoredWaiter = {
  id: 1,
  waitlistId: 1,
  seq: 7,
  uuid: '0199f2a4-5b6c-7def-8a90-123456789abc',
  email: 'Ada@example.com',
  emailKey: 'ada@example.com',
  mailboxKey: null,
  registeredEmail: 'ada+old@example.com',
  phone: '+1 415 555 0123',
  phoneKey: '+14155550123',
  firstName: "'=Ada",
  nameKey: null,
  lastName: '@Lovelace, "the first"',
  metadata: { plan: 'team', nested: [1, null, '='] },
  answers: [
    { question_id: 3, value: ['A friend', 'Other'] },
    { question_id: 1, value: '-1\n=2' },
    { question_id: 2, value: 'b' },
  ],
  referralToken: '7ZZ0K3M9QXVB',
  referredByToken: 'old-token_1',
  referred: true,
  credit: 'credited',
  creditReasons: [],
  creditedReferrals: 4,
  importedReferrals: 0,
  spotsAdvanced: 2,
  rankKey: 0,
  status: 'offboarded',
  verified: true,
  removedAt: new Date('2026-11-21T09:30:00.007Z'),
  removedPriority: 3,
  removedReason: 'accepted',
  joinedPriority: 7,
  offerExpiresAt: null,
  createdAt: new Date('2026-11-20T09:30:00.123Z'),
};
const QUESTIONS = {
  questions: [{ id: 3, text: 'How did you hear of us?', optional: false, options: ['A friend', 'Other'] }],
  removedQuestions: [
    { id: 1, text: 'Why?', optional: true, options: null },
    { id: 2, text: 'Size', optional: true, options: null },
    { id: 4, text: 'Never answered', optional: true, options: null },
  ],
};

function cellsOf(waiter: StoredWaiter, without: readonly Column[] = []): Cells {
  const exported = { waiter, position: waiter.status === 'waiting' ? 5 : null, joinOrder: 2, hasReferrer: true };
  const values = valuesOf(exported, QUESTIONS);
  return Object.fromEntries(
    COLUMNS.filter((column) => !without.includes(column)).map((column) => [column, toCell(values[column])]),
  );
}

/** The one fault of a line, as `column: rule`. */
function faultsOf(cells: Cells): string[] {
  return readLine({ email: 'ada@example.com', ...cells }, null).faults.map(({ field, rule }) => `${field}: ${rule}`);
}

describe('the cells of a record', () => {
  it('hold every fact of it, so that an import reads what an export wrote', () => {
    const { line, faults } = readLine(cellsOf(WAITER), null);

    expect(faults).toEqual([]);
    expect(line).toEqual({
      email: 'Ada@example.com',
      registeredEmail: 'ada+old@example.com',
      phone: '+1 415 555 0123',
      keys: { emailKey: 'ada@example.com', phoneKey: '+14155550123' },
      firstName: "'=Ada",
      lastName: '@Lovelace, "the first"',
      joinOrder: 2,
      createdAt: WAITER.createdAt,
      verified: true,
      referralToken: '7ZZ0K3M9QXVB',
      referredByToken: 'old-token_1',
      amountReferred: 4,
      credit: 'credited',
      creditReasons: [],
      spotsAdvanced: 2,
      removedAt: WAITER.removedAt,
      removedPriority: 3,
      removedReason: 'accepted',
      joinedPriority: 7,
      uuid: WAITER.uuid,
      metadata: WAITER.metadata,
      answers: [
        { question: 'How did you hear of us?', value: ['A friend', 'Other'], optional: false, removed: false },
        { question: 'Size', value: 'b', optional: true, removed: true },
        { question: 'Why?', value: '-1\n=2', optional: true, removed: true },
      ],
    });
  });

  it('give the live answers in pairs too, with a list as JSON', () => {
    const cells = cellsOf(WAITER, ['answers']);

    expect(cells).toMatchObject({ question_1: 'How did you hear of us?', answer_1: '["A friend","Other"]' });
    expect(readLine(cells, null).line.answers).toEqual([
      { question: 'How did you hear of us?', value: ['A friend', 'Other'], optional: true, removed: false },
    ]);
  });

  it.each(['=1', '+1', '-1', '@a', '\ta', '\ra', '\n=1', '＝1', '＋1', '－1', '＠a', "'=1", "''+1", "'\n1"])(
    "begin with ' where a spreadsheet sees a formula: %j",
    (text) => {
      expect(toCell(text)).toBe(`'${text}`);
      expect(readLine({ answer_1: toCell(text), question_1: 'Q' }, null).line.answers[0]?.value).toBe(text);
    },
  );

  it.each(['a=1', "'a", "'", ' =1', ''])('are otherwise the text itself: %j', (text) => {
    expect(toCell(text)).toBe(text);
    expect(readLine({ answer_1: text, question_1: 'Q' }, null).line.answers[0]?.value ?? '').toBe(text);
  });
});

describe('a line of an import', () => {
  it('needs an email or a phone alone', () => {
    const { line, faults } = readLine({ phone: '(415) 555-0123' }, 'US');

    expect(faults).toEqual([]);
    expect(line).toMatchObject({
      email: null,
      registeredEmail: null,
      keys: { emailKey: null, phoneKey: '+14155550123' },
      joinOrder: null,
      createdAt: null,
      verified: false,
      referralToken: null,
      referredByToken: null,
      amountReferred: 0,
      credit: null,
      creditReasons: [],
      spotsAdvanced: 0,
      removedAt: null,
      removedPriority: null,
      removedReason: null,
      joinedPriority: null,
      uuid: null,
      metadata: null,
      answers: [],
    });
  });

  it('takes the email as the registered one where the file has none', () => {
    expect(readLine({ email: 'ada@example.com' }, null).line.registeredEmail).toBe('ada@example.com');
    expect(readLine({ email: 'ada@example.com', registered_email: '' }, null).line.registeredEmail).toBeNull();
  });

  it.each([
    ['2026-11-21T09:30:00.123Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21T10:30+01:00', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21 09:30:00', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21_09-30-00', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.123456789-0230', '2026-11-21T12:00:00.123Z'],
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21 09:30', '2026-11-21T09:30:00.000Z'],
  ])('reads the time %s', (text, moment) => {
    const { line, faults } = readLine({ email: 'ada@example.com', created_at: text }, null);

    expect([line.createdAt?.toISOString(), faults]).toEqual([moment, []]);
  });

  it.each<[string, Cells]>([
    ['email: required', { email: ' ' }],
    ['email: format', { email: 'ada' }],
    ['email: characters', { email: 'a\u0000@example.com' }],
    ['phone: format', { phone: '0415' }],
    ['phone: max_length', { phone: `+1${'4'.repeat(40)}` }],
    ['registered_email: format', { registered_email: 'ada' }],
    ['first_name: max_length', { first_name: 'x'.repeat(101) }],
    ['last_name: characters', { last_name: 'a\nb' }],
    ['join_order: maximum', { join_order: '1000000001' }],
    ['join_order: type', { join_order: '1.5' }],
    ['spots_advanced: maximum', { spots_advanced: '1000000001' }],
    ['spots_advanced: type', { spots_advanced: '-1' }],
    ['amount_referred: maximum', { amount_referred: '99999999999999999999' }],
    ['created_at: format', { created_at: '2026-02-30' }],
    ['created_at: format', { created_at: '21.11.2026' }],
    ['created_at: format', { created_at: '1969-12-31' }],
    ['created_at: format', { created_at: '2026-11-21T25:00' }],
    ['removed_date: required', { removed_priority: '3' }],
    ['removed_date: required', { removed_reason: 'accepted' }],
    ['removed_reason: one_of', { removed_reason: 'gone', removed_date: '2026-11-21' }],
    ['joined_priority: type', { joined_priority: '-1' }],
    ['removed_date: format', { removed_date: 'yes', removed_priority: '3' }],
    ['verified: type', { verified: 'yes' }],
    ['referral_token: format', { referral_token: 'no token' }],
    ['referred_by: format', { referred_by: 'ada@example.com' }],
    ['credit: one_of', { credit: 'maybe' }],
    ['credit_reasons: one_of', { credit_reasons: 'too_fast,maybe' }],
    ['uuid: format', { uuid: '7' }],
    ['metadata: format', { metadata: '{' }],
    ['metadata: type', { metadata: '[]' }],
    ['metadata: max_levels', { metadata: '{"a":'.repeat(9) + '1' + '}'.repeat(9) }],
    ['metadata: max_bytes', { metadata: JSON.stringify({ a: 'x'.repeat(16_384) }) }],
    ['metadata: max_length', { metadata: '['.repeat(98_305) }],
    ['metadata: characters', { metadata: String.raw`{"a": "\ud800"}` }],
    ['metadata: characters', { metadata: String.raw`{"a": "\u0000"}` }],
    ['metadata: format', { metadata: '{"__proto__": {}}' }],
    ['question_2: required', { answer_2: 'yes' }],
    ['question_1: max_length', { question_1: 'x'.repeat(501) }],
    ['answer_1: max_length', { question_1: 'Q', answer_1: 'x'.repeat(4_001) }],
    ['answer_1: characters', { question_1: 'Q', answer_1: 'a\u0000' }],
    ['answer_1: max_length', { question_1: 'Q', answer_1: `["a"${' '.repeat(300_000)}]` }],
    ['answer_1: unique', { question_1: 'Q', answer_1: '["a", "a"]' }],
    ['answers: format', { answers: 'yes' }],
    ['answers: max_length', { answers: '['.repeat(810_001) }],
    ['answers: type', { answers: '{}' }],
    ['answers: type', { answers: '[null]' }],
    ['answers: type', { answers: '[{"question_value": "Q", "answer_value": 1}]' }],
    ['answers: min_length', { answers: '[{"question_value": "", "answer_value": "a"}]' }],
    ['answers: max_items', { answers: JSON.stringify(Array(31).fill({ question_value: 'Q' })) }],
  ])('is at fault by column and rule: %s', (fault, cells) => {
    expect(faultsOf(cells)).toEqual([fault]);
  });

  it('has the values that are kept beside the object of its column, and wins over it by a name', () => {
    const kept = { Notes: "'=1", Plan: 'team', Empty: ' ', constructor: 'x' };
    const { line, faults } = readLine({ email: 'ada@example.com', metadata: '{"Plan":"free","a":1}' }, null, { kept });

    expect([line.metadata, faults]).toEqual([{ Plan: 'team', a: 1, Notes: '=1', constructor: 'x' }, []]);
  });

  it('is at fault if the kept values are too large for metadata', () => {
    const { faults } = readLine({ email: 'ada@example.com' }, null, { kept: { Notes: 'x'.repeat(16_384) } });

    expect(faults).toMatchObject([{ field: 'metadata', rule: 'max_bytes' }]);
  });
});

describe('a value that does not fit a guessed column', () => {
  const guessed = new Set(COLUMNS);

  it.each<[Column, Cells]>([
    ['email', { email: 'n/a', phone: '+14155550123' }],
    ['phone', { phone: '0415' }],
    ['registered_email', { registered_email: 'ada' }],
    ['first_name', { first_name: 'x'.repeat(101) }],
    ['created_at', { created_at: '21.11.2026' }],
    ['verified', { verified: 'yes' }],
    ['referral_token', { referral_token: 'no token' }],
    ['referred_by', { referred_by: 'bob@example.com' }],
    ['amount_referred', { amount_referred: '-1' }],
    ['credit', { credit: 'maybe' }],
    ['credit_reasons', { credit_reasons: 'too_fast,maybe' }],
    ['removed_priority', { removed_priority: '3' }],
    ['removed_date', { removed_date: 'no', removed_priority: '3' }],
    ['uuid', { uuid: '7' }],
    ['metadata', { metadata: 'blue' }],
    ['question_1', { question_1: 'x'.repeat(501), answer_1: 'yes' }],
    ['answer_1', { answer_1: 'yes' }],
    ['answer_2', { question_2: 'Q', answer_2: '["a","a"]' }],
    ['answers', { answers: '[{"question_value": 1}]' }],
  ])('is left out, and the line is as without it: %s', (column, cells) => {
    const { line, faults, ignored } = readLine({ email: 'ada@example.com', ...cells }, null, { guessed });

    const without = readLine({ email: 'ada@example.com', ...cells, [column]: '' }, null);
    expect([faults, [...ignored.keys()]]).toEqual([[], [column]]);
    expect(line).toEqual(without.line);
  });

  it('is a fault where the line has no other email or phone', () => {
    const { faults } = readLine({ email: 'n/a', phone: '0415' }, null, { guessed });

    expect(faults).toMatchObject([
      { field: 'email', rule: 'format' },
      { field: 'phone', rule: 'format' },
    ]);
  });
});
