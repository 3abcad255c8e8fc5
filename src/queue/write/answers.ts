import type { FieldFault } from '../../platform/problems/problem.js';
import type { Answer } from '../record/waiter.js';
import { ANSWER_LENGTH_MAX } from '../settings/questions.js';
import type { Question } from '../settings/waitlist.entity.js';

type Fault = Omit<FieldFault, 'field'>;

/** The answers to keep, in the order of the questions, and the faults of the given ones. */
export interface CheckedAnswers {
  readonly answers: Answer[];
  /** Faults of text that no database stores. */
  readonly malformed: FieldFault[];
  /** The rules of the waitlist that the answers break. */
  readonly faults: readonly FieldFault[];
}

/**
 * Checks `given`, the request's `answers` as they came, against the waitlist's questions. Without questions, `given` is
 * ignored.
 */
export function checkAnswers(questions: readonly Question[], given: unknown): CheckedAnswers {
  if (questions.length === 0) return { answers: [], malformed: [], faults: [] };
  if (given !== undefined && given !== null && !Array.isArray(given))
    return { answers: [], malformed: [], faults: [{ field: 'answers', rule: 'type', message: 'must be a list' }] };

  const malformed: FieldFault[] = [];
  const faults: FieldFault[] = [];
  const named = new Set<Question>();
  const values = new Map<Question, Answer['value']>();
  ((given ?? []) as unknown[]).forEach((item, index) => {
    const { question_value: text, answer_value: value } = (item ?? {}) as Record<string, unknown>;
    const path = `answers[${index}]`;
    const question = questions.find((candidate) => candidate.text === text);
    const questionFault = faultOfQuestion(question, named);
    if (questionFault) faults.push({ field: `${path}.question_value`, ...questionFault });
    if (!question || questionFault) return;
    named.add(question);
    // Databases do not store NUL. A choice with NUL is none of the options.
    if (typeof value === 'string' && value.includes('\0'))
      malformed.push({ field: `${path}.answer_value`, rule: 'characters', message: 'must not contain NUL' });
    const fault = faultOfAnswer(question, value);
    if (fault) faults.push({ field: `${path}.answer_value`, ...fault });
    else if (!isBlank(value)) values.set(question, value as Answer['value']);
  });
  const missing = questions.filter((question) => !question.optional && !named.has(question));
  if (missing.length > 0) {
    const texts = missing.map(({ text }) => `"${text}"`).join(' and ');
    faults.push({ field: 'answers', rule: 'required', message: `must answer ${texts}` });
  }
  const answers = questions.flatMap((question) => {
    const value = values.get(question);
    return value === undefined ? [] : [{ question_id: question.id, value }];
  });
  return { answers, malformed, faults };
}

function faultOfQuestion(question: Question | undefined, named: ReadonlySet<Question>): Fault | null {
  if (!question) return { rule: 'known', message: 'must equal a question of this waitlist' };
  return named.has(question) ? { rule: 'unique', message: 'must not be answered twice' } : null;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function faultOfAnswer({ options, optional }: Question, value: unknown): Fault | null {
  if (isBlank(value)) return optional ? null : { rule: 'required', message: 'must answer the question' };
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
