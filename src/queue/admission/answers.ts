import { type FieldFault, Problem } from '../../platform/problems/problem.js';
import type { Answer } from '../waiter.js';
import type { Question } from '../waitlist.entity.js';

/** A free text of a few paragraphs. */
const ANSWER_LENGTH_MAX = 4_000;

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
  const faults: FieldFault[] = isList ? [] : [{ field: 'answers', message: 'must be a list' }];

  const values = new Map<Question, Answer['value']>();
  items.forEach((item, index) => {
    const { question_value: text, answer_value: value } = (item ?? {}) as Record<string, unknown>;
    const question = questions.find((candidate) => candidate.text === text);
    const questionFault = faultOfQuestion(question, values);
    if (questionFault) faults.push({ field: `answers[${index}].question_value`, message: questionFault });
    if (!question || questionFault || isBlank(value)) return;
    requireNoNul(value, `answers[${index}].answer_value`);
    const fault = faultOfAnswer(question, value);
    if (fault) faults.push({ field: `answers[${index}].answer_value`, message: fault });
    values.set(question, value as Answer['value']);
  });
  for (const question of questions) {
    if (question.optional || values.has(question)) continue;
    faults.push({ field: 'answers', message: `must answer the question "${question.text}"` });
  }
  const answers = questions.flatMap((question) => {
    const value = values.get(question);
    return value === undefined ? [] : [{ question: question.text, value }];
  });
  return { answers, faults };
}

function faultOfQuestion(question: Question | undefined, answered: ReadonlyMap<Question, unknown>): string | null {
  if (!question) return 'must equal a question of this waitlist';
  return answered.has(question) ? 'must not be answered twice' : null;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Databases do not store NUL. A choice with NUL is none of the options. */
function requireNoNul(value: unknown, field: string): void {
  if (typeof value === 'string' && value.includes('\0'))
    throw Problem.invalid([{ field, message: 'must not contain NUL' }]);
}

function faultOfAnswer({ options }: Question, value: unknown): string | null {
  if (options === null) {
    if (typeof value !== 'string') return 'must be text';
    return [...value].length > ANSWER_LENGTH_MAX ? `must have at most ${ANSWER_LENGTH_MAX} characters` : null;
  }
  const chosen: unknown[] = Array.isArray(value) ? value : [value];
  const areOffered = chosen.every((choice) => typeof choice === 'string' && options.includes(choice));
  return areOffered && new Set(chosen).size === chosen.length ? null : 'must be one or more of the options, each once';
}
