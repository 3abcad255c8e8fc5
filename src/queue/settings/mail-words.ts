import { WORDED_MAILS, type WordedMail } from '../../outbox/mail.entity.js';
import { type FieldFault, Problem } from '../../platform/problems/problem.js';

export { WORDED_MAILS, type WordedMail };

/** The owner's words; null for the service's own. */
export interface MailWords {
  readonly subject: string | null;
  readonly text: string | null;
}
export type Mails = Readonly<Record<WordedMail, MailWords>>;

export const NO_WORDS: MailWords = { subject: null, text: null };
export const NO_MAILS: Mails = { verification: NO_WORDS, welcome: NO_WORDS, offer: NO_WORDS, your_turn: NO_WORDS };

/** One text that a request gives. */
export interface WordChange {
  /** As the client wrote it. */
  readonly field: string;
  readonly kind: WordedMail;
  readonly part: keyof MailWords;
  readonly value: string | null;
}

const NAMES = ['first_name', 'place', 'waitlist_name', 'link'] as const;
type Placeholder = (typeof NAMES)[number];

/**
 * A verification mail goes to an address that anybody may have typed, and so may the name: it shows nothing that came
 * with the signup.
 */
export const PLACEHOLDERS = {
  verification: ['place', 'waitlist_name', 'link'],
  welcome: NAMES,
  offer: NAMES,
  your_turn: NAMES,
} as const satisfies Record<WordedMail, readonly Placeholder[]>;

/** In one text. A link can have 2,000 characters, and every mail has the text twice. */
const PLACEHOLDERS_MAX = 20;
const PLACEHOLDER = /\{([\p{L}_]+)\}/gu;

/** The values of placeholders. One without a value is empty. */
export type PlaceholderValues = Readonly<Partial<Record<Placeholder, string>>>;

/** The text with its values. Other braces stay as they are: a text from before placeholders may have some. */
export function fillIn(kind: WordedMail, text: string, values: PlaceholderValues): string {
  const names: readonly string[] = PLACEHOLDERS[kind];
  return text.replaceAll(PLACEHOLDER, (whole, name: string) =>
    names.includes(name) ? (values[name as Placeholder] ?? '') : whole,
  );
}

export function showsPlace({ subject, text }: MailWords): boolean {
  return `${subject} ${text}`.includes('{place}');
}

/**
 * The words after the changes; the same object if there is none. A text equal to the stored one is no change: a client
 * may send back what it read, under both names of the verification mail.
 * @throws Problem `INVALID_REQUEST` for a changed text with an unknown placeholder
 */
export function withWords(current: Mails, changes: readonly WordChange[]): Mails {
  const faults: FieldFault[] = [];
  let words = current;
  for (const { field, kind, part, value } of changes) {
    if (value === current[kind][part]) continue;
    words = { ...words, [kind]: { ...words[kind], [part]: value } };
    const placeholders = [...(value ?? '').matchAll(PLACEHOLDER)];
    if (placeholders.length > PLACEHOLDERS_MAX)
      faults.push({ field, rule: 'max_items', message: `must have at most ${PLACEHOLDERS_MAX} placeholders` });
    const unknown = placeholders.find(
      ([, name]) => !(PLACEHOLDERS[kind] as readonly string[]).includes(name as string),
    );
    if (unknown) faults.push({ field, rule: 'known', message: unknownPlaceholder(unknown[0], kind) });
  }
  if (faults.length > 0) throw Problem.invalid(faults);
  return words;
}

function unknownPlaceholder(placeholder: string, kind: WordedMail): string {
  const known = PLACEHOLDERS[kind].map((name) => `{${name}}`).join(', ');
  return `must not contain ${placeholder}: the placeholders of this mail are ${known}`;
}
