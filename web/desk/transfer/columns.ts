import { type Column, type ColumnUse, columnsOf, type Mapping, usesOf } from '../../../src/transfer/column-names';

/** What an import reads a column as. */
const MEANINGS: Readonly<Record<Exclude<Column, 'position'>, string>> = {
  email: 'Email',
  phone: 'Phone',
  first_name: 'First name',
  last_name: 'Last name',
  created_at: 'Time of joining',
  join_order: 'Order of joining',
  referral_token: 'Referral code',
  referred_by: 'Referrer’s code',
  amount_referred: 'Number of referrals',
  spots_advanced: 'Places granted',
  registered_email: 'Email at signup',
  credit: 'Referral credit',
  credit_reasons: 'Credit reasons',
  removed_date: 'Let in at',
  removed_priority: 'Position when let in',
  removed_reason: 'Outcome',
  joined_priority: 'Position when they joined',
  verified: 'Email confirmed',
  uuid: 'Id of the person',
  metadata: 'Metadata (JSON)',
  question_1: 'Question 1',
  answer_1: 'Answer 1',
  question_2: 'Question 2',
  answer_2: 'Answer 2',
  question_3: 'Question 3',
  answer_3: 'Answer 3',
  answers: 'Answers',
};

/** The columns that an import knows. */
export const COLUMN_NAMES = Object.keys(MEANINGS);

/** What a column of a report was read as. A later service may have more columns. */
export function meaningOf(column: string): string {
  // In a report, it can be the whole JSON or one value of it.
  if (column === 'metadata') return 'Metadata';
  return Object.hasOwn(MEANINGS, column) ? MEANINGS[column as keyof typeof MEANINGS] : column;
}

/** The choices besides the columns of an import. */
export const IGNORE = '';
export const KEEP = 'keep';

export function choiceOf({ column, isKept }: ColumnUse): string {
  return isKept ? KEEP : (column ?? IGNORE);
}

/** The choices for a column of the file. */
export function choicesFor(use: ColumnUse): { value: string; label: string }[] {
  // The whole JSON is recognized only by its name: in the mapping of an import, `metadata` means "keep".
  const columns = Object.entries(MEANINGS).filter(([name]) => name !== 'metadata' || choiceOf(use) === 'metadata');
  return [
    { value: IGNORE, label: 'Leave out' },
    ...(use.header === '' ? [] : [{ value: KEEP, label: 'Keep as metadata' }]),
    ...columns.map(([value, label]) => ({ value, label })),
  ];
}

/** The mapping after a choice. If another column of the file had the chosen one, it loses it. */
export function withChoice(headers: readonly string[], mapping: Mapping, header: string, choice: string): Mapping {
  const others = Object.entries(mapping).filter(([name]) => name !== header);
  const rest = Object.fromEntries(others.map(([name, column]) => [name, column === choice ? null : column]));
  // A guess of the import stays out of the mapping: an invalid value in a mapped column would reject its line.
  const use = usesOf(headers, rest)[headers.indexOf(header)];
  if (use && choiceOf(use) === choice) return rest;
  return { ...rest, [header]: choice === IGNORE ? null : choice === KEEP ? 'metadata' : (choice as Column) };
}

/** The names of the columns that are ignored, but can be kept. */
export function restOf(uses: readonly ColumnUse[]): string[] {
  const isUnique = (header: string) => uses.filter((use) => use.header === header).length === 1;
  return uses.flatMap(({ header, column }) => (column === null && header !== '' && isUnique(header) ? [header] : []));
}

/** Whether a column is the email or the phone, which an import needs. */
export function hasContact(uses: readonly ColumnUse[]): boolean {
  const columns = columnsOf(uses);
  return columns.includes('email') || columns.includes('phone');
}
