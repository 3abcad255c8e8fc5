import {
  faultsOfAll,
  LIVE_QUESTIONS_BYTES_MAX,
  LIVE_QUESTIONS_MAX,
  liveBytesOf,
  nextQuestionId,
  type Questions,
} from '../settings/questions.js';
import type { Answer } from '../record/waiter.js';
import type { Question } from '../settings/waitlist.entity.js';

/** An answer of a file. It names its question by its text: the file's ids are those of another waitlist. */
export interface NamedAnswer {
  readonly question: string;
  /** Null if the question was not answered. */
  readonly value: Answer['value'] | null;
  /** The setting of a question that the import adds. */
  readonly optional: boolean;
  /** Whether the question was removed from the waitlist of the file. */
  readonly removed: boolean;
}

/** The questions of a waitlist during an import, which adds the questions that the waitlist lacks. */
export class ImportQuestions {
  private current: Questions;

  constructor(current: Questions) {
    this.current = current;
  }

  /** Those of the waitlist and those added so far. */
  get all(): Questions {
    return this.current;
  }

  /**
   * The answers by the ids of their questions; adds the questions that are missing. If the waitlist cannot have one of
   * them, adds none and returns the fault as text.
   */
  answersOf(given: readonly NamedAnswer[]): Answer[] | string {
    let { questions, removedQuestions } = this.current;
    const named = new Set<number>();
    const answers: Answer[] = [];
    for (const { question: text, value, optional, removed } of given) {
      const among = removed ? removedQuestions : questions;
      const isSame = (question: Question) => question.text === text && !named.has(question.id);
      let question = among.find(isSame);
      if (!question) {
        if (!removed && questions.some((other) => other.text === text))
          return `must not answer ${JSON.stringify(text)} twice`;
        if (!removed && questions.length >= LIVE_QUESTIONS_MAX)
          return `must not answer ${JSON.stringify(text)}: the waitlist has ${LIVE_QUESTIONS_MAX} other questions`;
        question = { id: nextQuestionId({ questions, removedQuestions }), text, optional, options: null };
        if (removed) removedQuestions = [...removedQuestions, question];
        else questions = [...questions, question];
        if (!removed && liveBytesOf(questions) > LIVE_QUESTIONS_BYTES_MAX)
          return `must not answer ${JSON.stringify(text)}: the questions of the waitlist must have at most ${LIVE_QUESTIONS_BYTES_MAX} bytes as compact JSON`;
        const [fault] = faultsOfAll({ questions, removedQuestions });
        if (fault) return `must not answer ${JSON.stringify(text)}: the questions of the waitlist ${fault.message}`;
      }
      named.add(question.id);
      if (value !== null) answers.push({ question_id: question.id, value });
    }
    this.current = { questions, removedQuestions };
    return answers;
  }
}
