/** What an import takes a column for, by its name in the file. Other columns are ignored. */
const MEANINGS: Readonly<Record<string, string>> = {
  email: 'Email',
  phone: 'Phone',
  first_name: 'First name',
  last_name: 'Last name',
  created_at: 'Time of joining',
  join_order: 'Order of joining',
  referral_token: 'Referral token',
  referred_by: 'Referrer’s token',
  amount_referred: 'Number of referrals',
  spots_advanced: 'Places granted',
  registered_email: 'Email at signup',
  credit: 'Referral credit',
  credit_reasons: 'Credit reasons',
  removed_date: 'Let in at',
  removed_priority: 'Position when let in',
  verified: 'Contact verified',
  uuid: 'Id of the person',
  metadata: 'Metadata',
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

/** Null for a column that an import ignores. */
export function meaningOf(column: string): string | null {
  const name = column.trim().toLowerCase();
  // A file may name a column `constructor`.
  return (Object.hasOwn(MEANINGS, name) && MEANINGS[name]) || null;
}
