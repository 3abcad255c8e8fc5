import type { Fault, PublicWaitlist, Requirement, Values } from './model.js';
import type { Texts } from './texts.js';

/** An input of the form. */
export interface FormField {
  /** As the form sends it. An answer is `answers[0]`, beside `question_ids[0]`. */
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** Whether it is marked as optional. An email that a phone can replace is neither required nor marked. */
  readonly isOptional: boolean;
  /** A choice has options; null is a text. */
  readonly options: readonly string[] | null;
  readonly questionId: number | null;
  /** Attributes for keyboards and password managers. */
  readonly type: 'text' | 'email' | 'tel';
  readonly autocomplete: 'given-name' | 'family-name' | 'email' | 'tel' | 'off';
  readonly maxLength: number;
}

const CONTACT = [
  { name: 'first_name', type: 'text', autocomplete: 'given-name', maxLength: 100 },
  { name: 'last_name', type: 'text', autocomplete: 'family-name', maxLength: 100 },
  { name: 'email', type: 'email', autocomplete: 'email', maxLength: 254 },
  { name: 'phone', type: 'tel', autocomplete: 'tel', maxLength: 32 },
] as const;
type ContactName = (typeof CONTACT)[number]['name'];

const ANSWER_LENGTH_MAX = 4_000;
/** `answers[0]`, or the start of `answers[0].answer_value`. */
const ANSWER = /^answers\[(\d+)\]/;

/** Languages in which the family name comes first. */
const FAMILY_FIRST = /^(?:ja|zh)(?:-|$)/i;

/** The inputs of a waitlist's form in their order. A closed waitlist asks only for what finds a record. */
export function formFields(waitlist: PublicWaitlist, { lang, text }: Texts): FormField[] {
  const { required_contact, uses_firstname_lastname: usesNames, is_closed: isClosed, questions } = waitlist;
  const isAsked = (name: ContactName) => {
    const requirement = required_contact[name];
    if (name === 'email' || name === 'phone') return requirement !== 'off';
    return !isClosed && (requirement === 'required' || (usesNames && requirement === 'optional'));
  };
  const [firstName, lastName, ...others] = CONTACT;
  const ordered = FAMILY_FIRST.test(lang) ? [lastName, firstName, ...others] : CONTACT;
  const contact = ordered
    .filter(({ name }) => isAsked(name))
    .map((field) => ({
      ...field,
      label: text(field.name),
      // Where nothing is required, every input would be marked.
      isRequired: !isClosed && requirementOf(field.name, required_contact) === 'required',
      isOptional: !isClosed && requirementOf(field.name, required_contact) === 'optional',
      options: null,
      questionId: null,
    }));
  if (isClosed) return contact;
  const answers = questions.map((question, index) => ({
    name: `answers[${index}]`,
    label: question.question_value,
    isRequired: !question.optional,
    isOptional: question.optional,
    options: question.answer_value,
    questionId: question.id,
    type: 'text' as const,
    autocomplete: 'off' as const,
    maxLength: ANSWER_LENGTH_MAX,
  }));
  return [...contact, ...answers];
}

/**
 * A signup has an email or a phone. An optional one is required where the other is off; where both are optional, either
 * will do.
 */
function requirementOf(name: ContactName, required: PublicWaitlist['required_contact']): Requirement | 'either' {
  const isEitherOf = (name === 'email' || name === 'phone') && required[name] === 'optional';
  if (!isEitherOf) return required[name];
  const other = required[name === 'email' ? 'phone' : 'email'];
  return ({ off: 'required', optional: 'either', required: 'optional' } as const)[other];
}

/** The required inputs that were left empty, as faults of the API. */
export function missingFaults(fields: readonly FormField[], values: Values): Fault[] {
  const missing = fields.filter(({ name, isRequired }) => isRequired && !values[name]?.trim());
  return missing.map(({ name, questionId }) => ({
    field: questionId === null ? name : `${name}.answer_value`,
    rule: 'required',
    message: '',
  }));
}

/**
 * The values and faults of a form that was sent, by the names of the form as it is now. The form sends the id of each
 * question with the answer, so the answer follows its question if the owner has moved it. Without an id, it keeps its
 * place.
 */
export function renamed(
  { questions }: PublicWaitlist,
  values: Values,
  faults: readonly Fault[],
): { values: Values; faults: readonly Fault[] } {
  const nameNow = (name: string) =>
    name.replace(ANSWER, (_, index: string) => {
      const id = values[`question_ids[${index}]`];
      const place = id ? questions.findIndex((question) => String(question.id) === id) : Number(index);
      // The question is gone: no input has this name, and a fault is one of the answers as a whole.
      return place < 0 ? 'answers' : `answers[${place}]`;
    });
  return {
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [nameNow(name), value])),
    faults: faults.map((fault) => ({ ...fault, field: nameNow(fault.field) })),
  };
}
