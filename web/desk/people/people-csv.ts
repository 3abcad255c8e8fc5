import { momentOf } from '../parts/format';
import { saveFile } from '../parts/save-file';
import { type AnsweredQuestion, fetchAnswers, type OfferedPerson, type Person } from './people.queries';

type ValueOf = (person: Person & Pick<OfferedPerson, 'offer_url'>) => string | number | boolean | null;

/** The columns have the names of the service's own export, so that an import takes them. */
const COLUMNS: Readonly<Record<string, ValueOf>> = {
  number: ({ priority }) => priority + 1,
  email: ({ email }) => email,
  phone: ({ phone }) => phone,
  first_name: ({ first_name }) => first_name,
  last_name: ({ last_name }) => last_name,
  created_at: ({ created_at }) => momentOf(created_at).toISOString(),
  removed_date: ({ removed_date }) => removed_date && momentOf(removed_date).toISOString(),
  removed_reason: ({ removed_reason }) => removed_reason,
  verified: ({ verified }) => verified,
  referral_token: ({ referral_token }) => referral_token,
  referral_link: ({ referral_link }) => referral_link,
  referred_by: ({ referred_by_waiter_token }) => referred_by_waiter_token,
  amount_referred: ({ amount_referred }) => amount_referred,
  uuid: ({ uuid }) => uuid,
  metadata: ({ metadata }) => metadata && JSON.stringify(metadata),
};
/** Of people who have just been offered a seat. */
const OFFER_COLUMNS: Readonly<Record<string, ValueOf>> = {
  offer_url: ({ offer_url = null }) => offer_url,
  offer_expires_at: ({ offer_expires_at }) => offer_expires_at,
};

/**
 * Saves people as a CSV file for a spreadsheet: a row for each, and after the columns of the export one for each
 * question that any of them was asked. New offers have columns with their link and end. @throws Problem
 */
export async function savePeople(
  name: string,
  waitlistId: number,
  people: readonly (Person & Pick<OfferedPerson, 'offer_url'>)[],
): Promise<void> {
  const [{ csvOf }, answers] = await Promise.all([import('../parts/csv'), fetchAnswers(waitlistId, people)]);
  const questions = new Map([...answers.values()].flat().map(({ id, question_value }) => [id, question_value]));
  const columns = people.some(({ offer_url }) => offer_url !== undefined) ? { ...COLUMNS, ...OFFER_COLUMNS } : COLUMNS;
  const rows = people.map((person) => [
    ...Object.values(columns).map((valueOf) => valueOf(person)),
    ...[...questions.keys()].map((id) => answerTo(id, answers.get(person.uuid))),
  ]);
  saveFile(`${name}.csv`, csvOf([[...Object.keys(columns), ...questions.values()], ...rows]));
}

function answerTo(id: number, answers: readonly AnsweredQuestion[] = []): string {
  return [answers.find((answer) => answer.id === id)?.answer_value ?? ''].flat().join(', ');
}
