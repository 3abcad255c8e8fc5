import { describe, expect, it } from '@jest/globals';
import { Problem } from '../../platform/problems/problem.js';
import type { Question } from '../settings/waitlist.entity.js';
import { checkAnswers } from './answers.js';

const WHY: Question = { id: 1, text: 'Why?', optional: false, options: null };
const HOW: Question = { id: 2, text: 'How?', optional: true, options: ['On foot', 'By bike'] };

const item = (question_value: unknown, answer_value: unknown) => ({ question_value, answer_value });

const answersTo = (questions: Question[], given: unknown) => checkAnswers(questions, given).answers;
const faultsOf = (questions: Question[], given: unknown) => checkAnswers(questions, given).faults;

describe('answers', () => {
  it('are kept in the order of the questions', () => {
    const answers = answersTo([WHY, HOW], [item('How?', 'By bike'), item('Why?', 'Because')]);

    expect(answers).toEqual([
      { question_id: 1, value: 'Because' },
      { question_id: 2, value: 'By bike' },
    ]);
  });

  it.each([
    ['free text', WHY, 'Because\nof é 😀'],
    ['one of the options', HOW, 'On foot'],
    ['a list of one', HOW, ['On foot']],
    ['several of the options', HOW, ['By bike', 'On foot']],
    ['4,000 characters', WHY, '😀'.repeat(4000)],
  ])('may be %s', (_, question, value) => {
    expect(answersTo([question], [item(question.text, value)])).toEqual([{ question_id: question.id, value }]);
  });

  it.each([undefined, null, []])('may be %j if every question is optional', (given) => {
    expect(answersTo([HOW], given)).toEqual([]);
  });

  it.each([undefined, null, '', []])('%j leaves an optional question unanswered', (blank) => {
    expect(answersTo([HOW], [item('How?', blank)])).toEqual([]);
  });

  it.each([undefined, null, '', []])('%j does not answer a required question', (blank) => {
    expect(faultsOf([WHY], [item('Why?', blank)])).toEqual([
      { field: 'answers[0].answer_value', rule: 'required', message: 'must answer the question' },
    ]);
  });

  it('name all required questions that have no item in one fault', () => {
    expect(faultsOf([WHY, { ...HOW, optional: false }], null)).toEqual([
      { field: 'answers', rule: 'required', message: 'must answer "Why?" and "How?"' },
    ]);
  });

  it.each([undefined, null, 'text', 5, {}, [5, null, 'x'], [item('Anything', {})]])(
    '%j is ignored on a waitlist without questions',
    (given) => {
      expect(answersTo([], given)).toEqual([]);
    },
  );

  it("ignore the caller's own `optional`", () => {
    expect(faultsOf([WHY], [{ question_value: 'Why?', answer_value: null, optional: true }])).toHaveLength(1);
  });

  it.each([
    ['of another question', [item('Who?', 'x')], 'answers[0].question_value'],
    ['of a question in another case', [item('how?', 'On foot')], 'answers[0].question_value'],
    ['of no question', [item(undefined, 'x')], 'answers[0].question_value'],
    ['that are no items', [null], 'answers[0].question_value'],
    ['given twice', [item('How?', 'On foot'), item('How?', 'By bike')], 'answers[1].question_value'],
    ['that were not offered', [item('How?', 'By car')], 'answers[0].answer_value'],
    ['of which one was not offered', [item('How?', ['On foot', 'By car'])], 'answers[0].answer_value'],
    ['that choose an option twice', [item('How?', ['On foot', 'On foot'])], 'answers[0].answer_value'],
    ['that choose a number', [item('How?', 5)], 'answers[0].answer_value'],
    ['that are no list', 'On foot', 'answers'],
  ])('are refused %s', (_, given, field) => {
    expect(faultsOf([HOW], given)).toEqual([{ field, rule: expect.any(String), message: expect.any(String) }]);
  });

  it.each([
    ['a list', ['Because']],
    ['a number', 5],
    ['an object', {}],
    ['4,001 characters', 'x'.repeat(4001)],
  ])('in free text are refused as %s', (_, value) => {
    expect(faultsOf([WHY], [item('Why?', value)])).toEqual([
      { field: 'answers[0].answer_value', rule: expect.any(String), message: expect.any(String) },
    ]);
  });

  it('list each fault, up to the maximum of a problem', () => {
    expect(faultsOf([WHY, HOW], [item('Who?', 'x'), item('How?', 'x')])).toHaveLength(3);
    expect(Problem.ruleBroken(faultsOf([HOW], Array(100_000).fill(0))).fields).toHaveLength(20);
  });
});
