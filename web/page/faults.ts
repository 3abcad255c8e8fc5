import type { FormField } from './form-fields.js';
import type { Fault } from './model.js';
import type { TextKey, Texts } from './texts.js';

/** What a fault can stand beside. */
export type FaultyField = Pick<FormField, 'name' | 'label'>;

/** A fault as people read it, beside the input that it is about; null for one of no visible input. */
export interface ShownFault {
  readonly field: FaultyField | null;
  readonly text: string;
}

/** The API's names of answers: `answers`, `answers[0].answer_value`. */
const ANSWER = /^answers(?:\[(\d+)\]\.(question_value|answer_value))?/;

/** The faults of a refused signup in the order of the form, at most one of each input. */
export function shownFaults(faults: readonly Fault[], fields: readonly FaultyField[], { text }: Texts): ShownFault[] {
  const shown = faults.map((fault): ShownFault => {
    const [isAnswer, index, part] = ANSWER.exec(fault.field) ?? [];
    const name = isAnswer === undefined ? fault.field : `answers[${index ?? 0}]`;
    const field = fields.find((candidate) => candidate.name === name) ?? null;
    // A question that is not in the form any more, or that was added since the form was shown.
    const isOutdated = isAnswer !== undefined && part !== 'answer_value';
    return { field, text: text(isOutdated ? 'question_changed' : keyOf(fault)) };
  });
  const withFields = fields.flatMap((field) => shown.find((fault) => fault.field === field) ?? []);
  const others = shown.filter(({ field }) => field === null);
  return [...withFields, ...others.slice(0, 1)];
}

function keyOf({ field, rule, message }: Fault): TextKey {
  if (field === 'captcha_token') return 'captcha_required';
  // The same fault in the rule of one waitlist and of another: either would do.
  if (rule === 'required') return message.includes('unless') ? 'email_or_phone' : 'required';
  if (rule === 'max_length') return 'too_long';
  if (field === 'email') return 'invalid_email';
  return field === 'phone' ? 'invalid_phone' : 'invalid';
}
