import type { FieldFault } from '../../platform/problems/problem.js';
import type { Question } from './waitlist.entity.js';

/** The specification's own bound: a listing has three question columns. */
export const LIVE_QUESTIONS_MAX = 3;
/** Of the live questions as compact JSON of the API: a page of waitlists holds those of each. */
export const LIVE_QUESTIONS_BYTES_MAX = 16 * 1024;
/** Questions of a waitlist in all, live and removed, so that its row stays small. */
export const QUESTIONS_MAX = 30;
/** Characters of a question, or of one of its options. */
export const QUESTION_LENGTH_MAX = 500;
/** Characters of an answer in free text: a few paragraphs. */
export const ANSWER_LENGTH_MAX = 4_000;
/** Of all questions as JSON, because the row is read for each lookup. 30 questions of usual length need far less. */
const QUESTIONS_BYTES_MAX = 64 * 1024;

/** The live questions of a waitlist, in order, and those that were removed. */
export interface Questions {
  readonly questions: Question[];
  readonly removedQuestions: Question[];
}

/** A question as a request has it: without an id, it is new or has the text of a live one. */
export interface GivenQuestion extends Omit<Question, 'id'> {
  readonly id: number | null;
  /** A removed question that the client sent back; it is ignored. */
  readonly removed: boolean;
}

/** The new questions, and the faults of the given ones. */
export interface ChangedQuestions extends Questions {
  /** Ids that no live question has, or that are given twice: `INVALID_REQUEST`. */
  readonly malformed: readonly FieldFault[];
  /** Exceeded bounds on live and removed questions together: `WAITLIST_RULE_BROKEN`. */
  readonly broken: readonly FieldFault[];
}

export const NO_QUESTIONS: Questions = { questions: [], removedQuestions: [] };

/**
 * Replaces the live questions by the given ones. A question with the id of a live one, or without id but with its text,
 * keeps its id, and so its answers. Live questions that are not given are removed. Removed ones stay forever, so the
 * next id follows from all ids. If `given` is undefined, nothing changes. Call it under the row's lock: two changes
 * must not give the same id.
 */
export function changeQuestions(current: Questions, given: readonly GivenQuestion[] | undefined): ChangedQuestions {
  const { questions: live, removedQuestions: removedBefore } = current;
  if (!given) return { questions: live, removedQuestions: removedBefore, malformed: [], broken: [] };
  const liveIds = new Set(live.map(({ id }) => id));
  const named = new Set<number>();
  const malformed: FieldFault[] = [];
  given.forEach(({ id, removed }, index) => {
    if (removed || id === null) return;
    const field = `questions[${index}].id`;
    if (named.has(id)) malformed.push({ field, rule: 'unique', message: 'must not be given twice' });
    else if (!liveIds.has(id)) malformed.push({ field, rule: 'known', message: 'must be the id of a question' });
    named.add(id);
  });

  let nextId = nextQuestionId(current);
  const questions = given
    .filter(({ removed }) => !removed)
    .map(({ id, text, optional, options }): Question => {
      const same = live.find((question) => question.text === text && !named.has(question.id));
      return { id: id ?? same?.id ?? nextId++, text, optional, options };
    });
  const kept = new Set(questions.map(({ id }) => id));
  const removedQuestions = [...removedBefore, ...live.filter(({ id }) => !kept.has(id))];
  const changed = { questions, removedQuestions: removedQuestions.sort((one, other) => one.id - other.id) };
  return { ...changed, malformed, broken: faultsOfAll(changed) };
}

/** An id that no question of the waitlist has or had: removed questions keep theirs. */
export function nextQuestionId({ questions, removedQuestions }: Questions): number {
  return Math.max(0, ...[...questions, ...removedQuestions].map(({ id }) => id)) + 1;
}

/** The size of live questions as compact JSON of the API. */
export function liveBytesOf(questions: readonly Question[]): number {
  const shown = questions.map(({ id, text, optional, options }) => ({
    id,
    question_value: text,
    optional,
    answer_value: options,
    soft_deleted: false,
  }));
  return Buffer.byteLength(JSON.stringify(shown));
}

/** Exceeded bounds on live and removed questions together. */
export function faultsOfAll({ questions, removedQuestions }: Questions): FieldFault[] {
  const all = [...questions, ...removedQuestions];
  if (all.length > QUESTIONS_MAX)
    return [tooMany('max_items', `must be at most ${QUESTIONS_MAX}, including those that were removed`)];
  if (Buffer.byteLength(JSON.stringify(all)) > QUESTIONS_BYTES_MAX)
    return [tooMany('max_bytes', `must have at most ${QUESTIONS_BYTES_MAX} bytes, including those that were removed`)];
  return [];
}

function tooMany(rule: FieldFault['rule'], message: string): FieldFault {
  return { field: 'questions', rule, message };
}
