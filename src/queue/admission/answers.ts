import { type FieldFault, Problem } from '../../platform/problems/problem.js';
import type { Answer } from '../waiter.js';
import type { Question } from '../waitlist.entity.js';

/** A free text of a few paragraphs. */
const ANSWER_LENGTH_MAX = 4_000;

type Fault = Omit<FieldFault, 'field'>;

/** The answers to keep, in the order of the questions, and every rule that the given ones break. */
export interface CheckedAnswers {
  readonly answers: Answer[];
  readonly faults: readonly FieldFault[];
}

/**
 * Checks `given`, the request's `answers` as they came, against the waitlist's questions. Without questions, `given` is
 * ignored.
 * @throws Problem `INVALID_REQUEST` for text with NUL
 */
export function checkAnswers(questions: readonly Question[], given: unknown): CheckedAnswers {
  if (questions.length === 0) return { answers: [], faults: [] };
  const items: unknown[] = Array.isArray(given) ? given : [];
  const isList = given === undefined || given === null || Array.isArray(given);
  const faults: FieldFault[] = isList ? [] : [{ field: 'answers', rule: 'type', message: 'must be a list' }];

  const values = new Map<Question, Answer['value']>();
  items.forEach((item, index) => {
    const { question_value: text, answer_value: value } = (item ?? {}) as Record<string, unknown>;
    const question = questions.find((candidate) => candidate.text === text);
    const questionFault = faultOfQuestion(question, values);
    if (questionFault) faults.push({ field: `answers[${index}].question_value`, ...questionFault });
    if (!question || questionFault || isBlank(value)) return;
    requireNoNul(value, `answers[${index}].answer_value`);
    const fault = faultOfAnswer(question, value);
    if (fault) faults.push({ field: `answers[${index}].answer_value`, ...fault });
    values.set(question, value as Answer['value']);
  });
  const missing = questions.filter((question) => !question.optional && !values.has(question));
  if (isList && missing.length > 0) {
    faults.push({
      field: 'answers',
      rule: 'required',
      message: `must answer ${missing.map(({ text }) => `"${text}"`).join(' and ')}`,
    });
  }
  const answers = questions.flatMap((question) => {
    const value = values.get(question);
    return value === undefined ? [] : [{ question: question.text, value }];
  });
  return { answers, faults };
}

function faultOfQuestion(question: Question | undefined, answered: ReadonlyMap<Question, unknown>): Fault | null {
  if (!question) return { rule: 'known', message: 'must equal a question of this waitlist' };
  return answered.has(question) ? { rule: 'unique', message: 'must not be answered twice' } : null;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Databases do not store NUL. A choice with NUL is none of the options. */
function requireNoNul(value: unknown, field: string): void {
  if (typeof value === 'string' && value.includes('\0'))
    throw Problem.invalid([{ field, rule: 'characters', message: 'must not contain NUL' }]);
}

function faultOfAnswer({ options }: Question, value: unknown): Fault | null {
  if (options === null) {
    if (typeof value !== 'string') return { rule: 'type', message: 'must be text' };
    return [...value].length > ANSWER_LENGTH_MAX
      ? { rule: 'max_length', message: `must have at most ${ANSWER_LENGTH_MAX} characters` }
      : null;
  }
  const chosen: unknown[] = Array.isArray(value) ? value : [value];
  const areOffered = chosen.every((choice) => typeof choice === 'string' && options.includes(choice));
  if (!areOffered) return { rule: 'one_of', message: 'must be one or more of the options' };
  return new Set(chosen).size === chosen.length
    ? null
    : { rule: 'unique', message: 'must not contain an option twice' };
}
