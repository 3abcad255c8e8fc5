/*
 * What owners read of a fault. The service writes for programmers: names of fields, patterns. Here stand no imports, so
 * that test/contract/desk-words.spec.ts can walk all faults that the desk's requests can get.
 */

interface Fault {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** By field and rule. An item of a list is `[]`. */
const WORDS: Readonly<Record<string, string>> = {
  'after_id.format': 'The list has changed meanwhile. Reload the page.',
  'captcha.secret.required': 'Enter the secret that belongs to the site key.',
  'captcha.site_key.format': 'Copy the site key as the provider shows it: letters, digits, “-” and “_” only.',
  'credit.known': 'Nobody on this list referred this person, so there is nothing to decide.',
  'current_password.match': 'This is not your current password.',
  'default_region.format': 'Choose a country from the list.',
  'default_region.known': 'Choose a country from the list.',
  'delivery_ids[].format': 'This is not the id of a delivery.',
  'email.format': 'Enter an email address, such as ada@example.com.',
  'email.unique': 'Somebody else on this list has this email.',
  'frame_origins[].format': 'Enter the address of a site without a path, such as https://example.com.',
  'lang.format': 'Enter the short name of a language, such as en or pt-BR.',
  'logo.format': 'Begin the address with https://, as in https://example.com/logo.png.',
  'phone.format': 'Enter the number with its country code, such as +14155550123.',
  'phone.unique': 'Somebody else on this list has this phone number.',
  'public_key.format': 'Use capital letters and digits, with at least one letter.',
  'questions[].id.known': 'This question was removed meanwhile. Reload the page.',
  'questions[].question_value.unique': 'Another question has the same text.',
  'referral_token.format': 'This is no referral code: copy it from the page of the person.',
  'required_contact.reachable': 'Ask for the email or the phone: people are found by one of them.',
  'signups[].uuid.format': 'The list has changed meanwhile. Reload the page.',
  'slug.format': 'Use 3 to 40 of the characters a–z, 0–9 and “-”, with at least one letter.',
  'slug.unique': 'Another waitlist has this address. Choose another.',
  'url.format': 'Enter an address that begins with https://, such as https://example.com/hook.',
  'url.public_address':
    'Enter an https:// address that the internet can reach. Private ones need the operator’s permission.',
  'uuid.format': 'Paste the address of a person’s page at the desk.',
  'verification.one_of': 'Needs a service that sends mail; “Required” also needs the email to be required on the form.',
  'waitlist_url_location.format': 'Enter the address of a page, such as https://example.com/join.',
  'your_turn_url.format': 'Begin the address with https://, as in https://example.com/welcome.',
};

/** For the fields without words of their own. All other rules are told well by the service, with their bounds. */
const RULES: Readonly<Record<string, string>> = {
  characters: 'Contains a character that cannot be shown. Type the text instead of pasting it.',
  required: 'Fill in this field.',
  min_length: 'Fill in this field.',
  one_of: 'Choose one of the values that are offered.',
  unique: 'Contains the same item twice.',
};

/** Where the service has nothing but a pattern to say. */
export const UNREADABLE = 'Cannot be used as it is written. Check it, then try again.';

const PATTERN = /[\\^]|must match/i;

/** A sentence about a fault, to stand beside its field. */
export function wordsOf({ field, rule, message }: Fault): string {
  // Of a bound above one, the service says the number.
  const isBound = rule === 'min_length' && /\d/.test(message);
  const words = WORDS[`${field.replaceAll(/\[\d+\]/g, '[]')}.${rule}`] ?? (isBound ? undefined : RULES[rule]);
  if (words !== undefined) return words;
  return PATTERN.test(message) ? UNREADABLE : sentence(message);
}

/** All faults of a refusal whose fields are not on the page. */
export function wordsOfAll(faults: readonly Fault[]): string {
  return faults
    .map((fault) => `${sentence(fault.field.replaceAll(/[._]/g, ' ')).slice(0, -1)}: ${wordsOf(fault)}`)
    .join(' ');
}

/** The service writes a fault to follow a field's name: "must be a url". */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`;
}

/** For a refusal's `detail`, which joins the service's messages. */
export function isForProgrammers(detail: string): boolean {
  return PATTERN.test(detail);
}
