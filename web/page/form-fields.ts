import type { PublicWaitlist } from './model.js';
import type { Texts } from './texts.js';

/** An input of the form. */
export interface FormField {
  /** As the form sends it. An answer is `answers[0]`, beside `question_ids[0]`. */
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
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
const ANSWER_LENGTH_MAX = 4_000;

/** The inputs of a waitlist's form in their order. A closed waitlist asks only for what finds a record. */
export function formFields(waitlist: PublicWaitlist, { text }: Texts): FormField[] {
  const { required_contact, uses_firstname_lastname: usesNames, is_closed: isClosed, questions } = waitlist;
  const isAsked = (name: (typeof CONTACT)[number]['name']) => {
    const requirement = required_contact[name];
    if (name === 'email' || name === 'phone') return requirement !== 'off';
    return !isClosed && (requirement === 'required' || (usesNames && requirement === 'optional'));
  };
  const contact = CONTACT.filter(({ name }) => isAsked(name)).map((field) => ({
    ...field,
    label: text(field.name),
    isRequired: !isClosed && required_contact[field.name] === 'required',
    options: null,
    questionId: null,
  }));
  if (isClosed) return contact;
  const answers = questions.map((question, index) => ({
    name: `answers[${index}]`,
    label: question.question_value,
    isRequired: !question.optional,
    options: question.answer_value,
    questionId: question.id,
    type: 'text' as const,
    autocomplete: 'off' as const,
    maxLength: ANSWER_LENGTH_MAX,
  }));
  return [...contact, ...answers];
}
