import type { FieldFault } from '../platform/problems/problem.js';
import type { Question } from './waitlist.entity.js';

/** Questions of a waitlist in all, live and removed, so that its row stays small. */
const QUESTIONS_MAX = 30;
/** The row is read for each lookup. Far more than 30 questions of usual length. */
const QUESTIONS_BYTES_MAX = 64 * 1024;

/** The live questions of a waitlist, in order, and those that were removed. */
export interface Questions {
  readonly questions: Question[];
  readonly removedQuestions: Question[];
}

/** A question as a request has it: without an id, it is new or has the text of a live one. */
export interface GivenQuestion extends Omit<Question, 'id'> {
  readonly id: number | null;
  /** Sent back from a response: not a question to ask. */
  readonly removed: boolean;
}

/** The new questions, and everything that is wrong with the given ones. */
export interface ChangedQuestions extends Questions {
  /** Ids that no live question has: `INVALID_REQUEST`. */
  readonly malformed: readonly FieldFault[];
  /** Bounds that the removed ones count toward: `WAITLIST_RULE_BROKEN`. */
  readonly broken: readonly FieldFault[];
}

export const NO_QUESTIONS: Questions = { questions: [], removedQuestions: [] };

/**
 * Replaces the live questions by the given ones. A question that has the id of a live one, or no id and its text, keeps its
 * id, and so its answers. Live questions that are not given are removed. Removed ones stay for ever, so the next id follows
 * from the ids of all. Without given ones, nothing changes. Call it under the lock of the waitlist's row: two changes must
 * not give the same id.
 */
export function changeQuestions(current: Questions, given: readonly GivenQuestion[] | undefined): ChangedQuestions {
  const { questions: asked, removedQuestions: removedBefore } = current;
  if (!given) return { questions: asked, removedQuestions: removedBefore, malformed: [], broken: [] };
  const live = new Set(asked.map(({ id }) => id));
  const named = new Set<number>();
  const malformed: FieldFault[] = [];
  given.forEach(({ id, removed }, index) => {
    if (removed || id === null) return;
    const field = `questions[${index}].id`;
    if (named.has(id)) malformed.push({ field, rule: 'unique', message: 'must not be given twice' });
    else if (!live.has(id)) malformed.push({ field, rule: 'known', message: 'must be the id of a question' });
    named.add(id);
  });

  let nextId = Math.max(0, ...[...asked, ...removedBefore].map(({ id }) => id)) + 1;
  const questions = given
    .filter(({ removed }) => !removed)
    .map(({ id, text, optional, options }): Question => {
      const same = asked.find((question) => question.text === text && !named.has(question.id));
      return { id: id ?? same?.id ?? nextId++, text, optional, options };
    });
  const kept = new Set(questions.map(({ id }) => id));
  const removedQuestions = [...removedBefore, ...asked.filter(({ id }) => !kept.has(id))];
  const changed = { questions, removedQuestions: removedQuestions.sort((one, other) => one.id - other.id) };
  return { ...changed, malformed, broken: faultsOfAll(changed) };
}

function faultsOfAll({ questions, removedQuestions }: Questions): FieldFault[] {
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
