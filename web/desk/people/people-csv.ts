import { momentOf } from '../parts/format';
import { saveFile } from '../parts/save-file';
import { type AnsweredQuestion, fetchAnswers, type Person } from './people.queries';

/** The columns have the names of the service's own export, so that an import takes them. */
const COLUMNS: Readonly<Record<string, (person: Person) => string | number | boolean | null>> = {
  number: ({ priority }) => priority + 1,
  email: ({ email }) => email,
  phone: ({ phone }) => phone,
  first_name: ({ first_name }) => first_name,
  last_name: ({ last_name }) => last_name,
  created_at: ({ created_at }) => momentOf(created_at).toISOString(),
  removed_date: ({ removed_date }) => removed_date && momentOf(removed_date).toISOString(),
  verified: ({ verified }) => verified,
  referral_token: ({ referral_token }) => referral_token,
  referral_link: ({ referral_link }) => referral_link,
  referred_by: ({ referred_by_waiter_token }) => referred_by_waiter_token,
  amount_referred: ({ amount_referred }) => amount_referred,
  uuid: ({ uuid }) => uuid,
  metadata: ({ metadata }) => metadata && JSON.stringify(metadata),
};

/**
 * Saves people as a CSV file for a spreadsheet: a row for each, and after the columns of the export one for each
 * question that any of them was asked. @throws Problem
 */
export async function savePeople(name: string, waitlistId: number, people: readonly Person[]): Promise<void> {
  const [{ csvOf }, answers] = await Promise.all([import('../parts/csv'), fetchAnswers(waitlistId, people)]);
  const questions = new Map([...answers.values()].flat().map(({ id, question_value }) => [id, question_value]));
  const rows = people.map((person) => [
    ...Object.values(COLUMNS).map((valueOf) => valueOf(person)),
    ...[...questions.keys()].map((id) => answerTo(id, answers.get(person.uuid))),
  ]);
  saveFile(`${name}.csv`, csvOf([[...Object.keys(COLUMNS), ...questions.values()], ...rows]));
}

function answerTo(id: number, answers: readonly AnsweredQuestion[] = []): string {
  return [answers.find((answer) => answer.id === id)?.answer_value ?? ''].flat().join(', ');
}
