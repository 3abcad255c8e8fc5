/*
 * The sentences that the desk shows for validation errors. The service's messages are for programmers: they have names
 * of fields and patterns. Imports nothing, so that test/contract/desk-words.spec.ts can check all errors of the desk's
 * requests.
 */

interface Fault {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

export const WRONG_CODE = 'This code is wrong or was used already. Enter the one that your app shows now.';

/** By field and rule, such as `email.format`. `[]` stands for the index of a list. */
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
  'contact.format': 'Enter an email, or an address that begins with https://.',
  'frame_origins[].format': 'Enter the address of a site without a path, such as https://example.com.',
  'lang.format': 'Enter the short name of a language, such as en or pt-BR.',
  'logo.format': 'Enter an address that begins with https://, such as https://example.com/logo.png.',
  'member.format': 'Choose the member again.',
  'offers.url.format': 'Enter an address that begins with https://, such as https://example.com/welcome.',
  'otp.match': WRONG_CODE,
  'phone.format': 'Enter the number with its country code, such as +14155550123.',
  'phone.unique': 'Somebody else on this list has this phone number.',
  'public_key.format': 'Use capital letters and digits, with at least one letter.',
  'questions[].id.known': 'This question was removed meanwhile. Reload the page.',
  'questions[].question_value.unique': 'Another question has the same text.',
  'referral_token.format': 'This is no referral code. Copy it from the page of the person.',
  'release_plan.at.format': 'Enter a time, such as 09:00.',
  'release_plan.time_zone.known': 'Choose a time zone from the list.',
  'release_plan.until.format': 'Enter a date.',
  'required_contact.reachable': 'Ask for the email or the phone: people are found by one of them.',
  'signups[].uuid.format': 'The list has changed meanwhile. Reload the page.',
  'slug.format': 'Use 3 to 40 of the characters a–z, 0–9 and “-”, with at least one letter.',
  'url.format': 'Enter an address that begins with https://, such as https://example.com/hook.',
  'url.public_address':
    'Enter an https:// address that the internet can reach. Private ones need the operator’s permission.',
  'uuid.format': 'Paste the address of a person’s page at the desk.',
  'verification.one_of': 'The service must be able to send mail. For “Required”, the form must also require the email.',
  'waitlist_url_location.format': 'Enter the address of a page, such as https://example.com/join.',
  'your_turn_url.format': 'Enter an address that begins with https://, such as https://example.com/welcome.',
};

/** By rule, for fields that are not in `WORDS`. For all other rules, the service's own message is shown. */
const RULES: Readonly<Record<string, string>> = {
  characters: 'Contains a character that cannot be shown. Type the text instead of pasting it.',
  required: 'Fill in this field.',
  min_length: 'Fill in this field.',
  one_of: 'Choose one of the values that are offered.',
  unique: 'Contains the same item twice.',
};

/** By the code of a problem, in place of its detail. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EMAIL_TAKEN: 'Somebody with this email already has a login at this service.',
  INSUFFICIENT_ROLE: 'Your role does not allow this. Ask an owner of your account.',
  LAST_OWNER: 'The account needs an active owner who can sign in. Make another active member an owner first.',
  MAIL_IS_OFF: 'This service sends no mail. Ask an owner of your account for a link.',
  MEMBER_ACTIVE: 'This member has accepted an invitation already. Reload the page.',
  MEMBER_NOT_ACTIVE: 'Only an active member can get a link for a new password.',
  MEMBER_NOT_FOUND: 'This member is not there any more. Reload the page.',
  NO_RELEASE_PLAN: 'This waitlist has no release plan any more. Reload the page.',
  OFFER_ENDED: 'This offer has ended meanwhile. Reload the page.',
  OWN_TWO_FACTOR: 'Turn off your own second factor in your profile.',
  PASSWORD_LOGIN_OFF: 'Passwords are turned off at this service.',
  RELEASE_RUNNING: 'A run of the plan is under way. Wait until it is done.',
  TOO_MANY_MEMBERS: 'The account cannot have more members. Remove somebody who is no longer needed.',
  TWO_FACTOR_OFF: 'Your second factor is turned off. Reload the page.',
  TWO_FACTOR_ON: 'You have a second factor already. Reload the page.',
  TWO_FACTOR_REQUIRED: 'Your account requires a second factor. Set it up in your profile.',
  WRONG_OTP: WRONG_CODE,
  WRONG_PASSWORD: 'This is not your current password.',
};

/** By the code of a sign-in at the provider that failed, in the address of the page. */
const SSO_ERRORS: Readonly<Record<string, string>> = {
  SSO_UNAVAILABLE: 'The sign-in provider cannot be reached right now. Try again in a moment.',
  SSO_REFUSED:
    'The sign-in did not work, or took too long. Try again. If it fails again, ask an owner of your account.',
  EMAIL_NOT_VERIFIED: 'The sign-in provider has not verified your email. Verify it there, then try again.',
  NOT_INVITED:
    'Nobody has invited you to this service yet. If you have a password here, sign in with it, and link your account at the provider in your profile. Otherwise ask an owner for an invitation.',
  NO_ROLE: 'Your account at the sign-in provider is in no group that may use this service. Ask its administrator.',
  TOO_MANY_MEMBERS: 'The account cannot have more members. Ask one of its owners.',
  MEMBER_DISABLED: 'Your login was disabled. Ask an owner of your account.',
};

/** Replaces a message that has only a pattern. */
export const UNREADABLE = 'This value is not valid. Check it, then try again.';

const PATTERN = /[\\^]|must match/i;

/** The service's message about the words of a mail. It names the wrong placeholder and all that exist. */
const UNKNOWN_PLACEHOLDER = /^must not contain (\{.+?\}): the placeholders of this mail are (.+)$/;

/** A sentence about a fault, to stand beside its field. */
export function wordsOf({ field, rule, message }: Fault): string {
  const [, unknown, known] = UNKNOWN_PLACEHOLDER.exec(message) ?? [];
  if (unknown !== undefined) return `${unknown} is no placeholder of this mail. You can use ${known}.`;
  // The service's message has the bound, if it is above 1.
  const isBound = rule === 'min_length' && /\d/.test(message);
  const words = WORDS[`${field.replaceAll(/\[\d+\]/g, '[]')}.${rule}`] ?? (isBound ? undefined : RULES[rule]);
  if (words !== undefined) return words;
  return PATTERN.test(message) ? UNREADABLE : sentence(message);
}

/** One text for faults whose fields are not on the page. */
export function wordsOfAll(faults: readonly Fault[]): string {
  return faults
    .map((fault) => `${sentence(fault.field.replaceAll(/[._]/g, ' ')).slice(0, -1)}: ${wordsOf(fault)}`)
    .join(' ');
}

/** The service writes a fault to follow a field's name: "must be a url". */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`;
}

/** A sentence about a problem whose code is known; undefined for others. */
export function wordsOfProblem(code: string): string | undefined {
  return PROBLEMS[code];
}

/** A sentence about a sign-in that failed at the provider. */
export function wordsOfSso(code: string): string {
  return SSO_ERRORS[code] ?? 'The sign-in did not work. Try again.';
}

/** Whether the `detail` of a problem, which joins the service's messages, has a pattern. */
export function isForProgrammers(detail: string): boolean {
  return PATTERN.test(detail);
}
