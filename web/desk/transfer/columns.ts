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

/** The names that an import knows. */
export const COLUMN_NAMES = Object.keys(MEANINGS);

/** What a column of a report was read as. A later service may have more columns. */
export function meaningOf(column: string): string {
  // Its JSON, or a value of it.
  if (column === 'metadata') return 'Metadata';
  return Object.hasOwn(MEANINGS, column) ? MEANINGS[column as keyof typeof MEANINGS] : column;
}

/** What an owner can read a column as: the name of a column, or one of these. */
export const IGNORE = '';
export const KEEP = 'keep';

export function choiceOf({ column, isKept }: ColumnUse): string {
  return isKept ? KEEP : (column ?? IGNORE);
}

/** The choices for a column, with the one that is made. */
export function choicesFor(use: ColumnUse): { value: string; label: string }[] {
  // A file's JSON is found by its name; the mapping of an import has no word for it.
  const columns = Object.entries(MEANINGS).filter(([name]) => name !== 'metadata' || choiceOf(use) === 'metadata');
  return [
    { value: IGNORE, label: 'Leave out' },
    ...(use.header === '' ? [] : [{ value: KEEP, label: 'Keep as metadata' }]),
    ...columns.map(([value, label]) => ({ value, label })),
  ];
}

/** The mapping with another choice for a column, whose place another column may have had. */
export function withChoice(headers: readonly string[], mapping: Mapping, header: string, choice: string): Mapping {
  const others = Object.entries(mapping).filter(([name]) => name !== header);
  const rest = Object.fromEntries(others.map(([name, column]) => [name, column === choice ? null : column]));
  // What an import does by itself is left to it: then a value that does not fit costs no line.
  const use = usesOf(headers, rest)[headers.indexOf(header)];
  if (use && choiceOf(use) === choice) return rest;
  return { ...rest, [header]: choice === IGNORE ? null : choice === KEEP ? 'metadata' : (choice as Column) };
}

/** The names of the columns that are ignored, but can be kept. */
export function restOf(uses: readonly ColumnUse[]): string[] {
  const isUnique = (header: string) => uses.filter((use) => use.header === header).length === 1;
  return uses.flatMap(({ header, column }) => (column === null && header !== '' && isUnique(header) ? [header] : []));
}

/** Whether people can be told apart. */
export function hasContact(uses: readonly ColumnUse[]): boolean {
  const columns = columnsOf(uses);
  return columns.has('email') || columns.has('phone');
}
