import { type FieldFault, Problem } from '../platform/problems/problem.js';
import type { Answer } from '../queue/waiter.js';
import type { Question } from '../waitlist/waitlist.entity.js';

/** A free text of a few paragraphs. */
const ANSWER_LENGTH_MAX = 4_000;

/**
 * Holds what was answered against what the waitlist asks, in the order of its questions. `given` is whatever stood in
 * the request; on a waitlist that asks nothing it does not matter.
 * @throws Problem `rule_broken` naming each item at fault; `invalid` for text with NUL
 */
export function checkAnswers(questions: readonly Question[], given: unknown): Answer[] {
  if (questions.length === 0) return [];
  const items: unknown[] = Array.isArray(given) ? given : [];
  const faults: FieldFault[] = [];
  if (given !== undefined && given !== null && !Array.isArray(given))
    faults.push({ field: 'answers', message: 'must be a list' });

  const answers = new Map<string, Answer>();
  items.forEach((item, index) => {
    const { question_value: text, answer_value: value } = (item ?? {}) as Record<string, unknown>;
    const question = questions.find((candidate) => candidate.text === text);
    if (!question) {
      faults.push({ field: `answers[${index}].question_value`, message: 'must equal a question of this waitlist' });
    } else if (answers.has(question.text)) {
      faults.push({ field: `answers[${index}].question_value`, message: 'must not be answered twice' });
    } else if (!isBlank(value)) {
      if (typeof value === 'string' && value.includes('\0')) {
        throw Problem.invalid([{ field: `answers[${index}].answer_value`, message: 'must not hold NUL' }]);
      }
      const fault = faultOf(question, value);
      if (fault) faults.push({ field: `answers[${index}].answer_value`, message: fault });
      answers.set(question.text, { question: question.text, value: value as Answer['value'] });
    }
  });
  for (const { text, optional } of questions) {
    if (!optional && !answers.has(text))
      faults.push({ field: 'answers', message: `must answer the question "${text}"` });
  }
  if (faults.length > 0) throw Problem.ruleBroken(faults);
  return questions.flatMap(({ text }) => answers.get(text) ?? []);
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function faultOf({ options }: Question, value: unknown): string | null {
  if (options === null) {
    if (typeof value !== 'string') return 'must be text';
    return [...value].length > ANSWER_LENGTH_MAX ? `must have at most ${ANSWER_LENGTH_MAX} characters` : null;
  }
  const chosen: unknown[] = Array.isArray(value) ? value : [value];
  const areOffered = chosen.every((choice) => typeof choice === 'string' && options.includes(choice));
  return areOffered && new Set(chosen).size === chosen.length ? null : 'must be one or more of the options, each once';
}
