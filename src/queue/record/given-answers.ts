import type { Questions } from '../settings/questions.js';
import type { Question } from '../settings/waitlist.entity.js';
import type { StoredWaiter } from './waiter.js';

/** A question with a record's answer to it. */
export interface GivenAnswer {
  readonly id: number;
  readonly question_value: string;
  readonly optional: boolean;
  readonly answer_value: string | readonly string[] | null;
  readonly soft_deleted: boolean;
}

/** The live questions, then the removed ones that the record answered. */
export function answersOf(record: Pick<StoredWaiter, 'answers'>, questions: Questions): GivenAnswer[] {
  const cellOf = ({ id, text, optional }: Question, soft_deleted: boolean): GivenAnswer => {
    return { id, question_value: text, optional, answer_value: answerTo(record, id), soft_deleted };
  };
  const removed = questions.removedQuestions.map((question) => cellOf(question, true));
  return [
    ...questions.questions.map((question) => cellOf(question, false)),
    ...removed.filter(({ answer_value }) => answer_value !== null),
  ];
}

export function answerTo({ answers }: Pick<StoredWaiter, 'answers'>, questionId: number): GivenAnswer['answer_value'] {
  return answers?.find(({ question_id }) => question_id === questionId)?.value ?? null;
}
