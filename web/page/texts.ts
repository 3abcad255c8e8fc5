import type { PublicWaitlist } from './model.js';

/**
 * Every text that people read on the page and in the widget. An owner can replace each. `{…}` stands for a value; where
 * the text depends on a number, there is one text for 1 and one for all others.
 */
export const TEXTS = {
  first_name: 'First name',
  last_name: 'Last name',
  email: 'Email',
  phone: 'Phone',
  optional: '(optional)',
  choose: 'Choose…',
  button: 'Join the waitlist',
  /** What the data is for; empty leaves the line out. */
  purpose: '',
  /** Below the title; empty leaves the line out. */
  introduction: '',

  /** Behind the link of a person whose email is confirmed, if the owner wants it. */
  invited_by: '{name} invited you.',
  one_in_line: '1 person is in line.',
  many_in_line: '{count} people are in line.',

  /** In previews of the link, where there is no introduction. */
  description: 'Sign up to get a place on the waitlist.',

  /** At a field that people never see. */
  leave_empty: 'Leave this empty',
  captcha: 'Security check',
  captcha_required: 'Please complete this check.',
  captcha_needs_script: 'This form has a security check that needs JavaScript. Please turn JavaScript on.',
  captcha_away: 'The security check can’t be loaded. Please allow it in your browser, and load the page again.',

  closed: 'This waitlist is closed.',
  find: 'Already joined? Enter your signup details to see your place.',
  find_button: 'See my place',

  error_prefix: 'Error:',
  errors: 'Please check the form',
  required: 'This is required.',
  email_or_phone: 'Enter an email or a phone number.',
  invalid_email: 'Enter an email address, like name@example.com.',
  invalid_phone: 'Enter a phone number with its country code, like +1 201 555 0123.',
  too_long: 'This is too long.',
  invalid: 'Please check this.',
  question_changed: 'The questions have changed. Please answer them again.',
  not_found: 'We found no signup with these details.',
  too_many_requests: 'There were too many requests. Please try again later.',
  unavailable: 'The waitlist can’t be reached right now. Please try again in a moment.',
  retry: 'Try again',

  joined: 'You’re on the list',
  place: 'You’re number {place}',
  nobody_ahead: 'Nobody is ahead of you.',
  one_ahead: '1 person is ahead of you.',
  many_ahead: '{count} people are ahead of you.',
  one_spot: 'Each friend who joins moves you up 1 place.',
  many_spots: 'Each friend who joins moves you up {count} places.',
  one_referral: '1 friend has joined through your link.',
  many_referrals: '{count} friends have joined through your link.',
  referral_link: 'Your link to share',
  copy: 'Copy',
  copied: 'Copied',
  share: 'Share',
  share_on: 'Share on {network}',
  message: 'Join me on the waitlist:',
  bookmark: 'Bookmark this page to come back to your place.',
  /** In the widget, where the address of the page is not that of the place. */
  private_page: 'Your own page, to come back to your place',
  leaderboard: 'Leaderboard',
  leaderboard_place: 'Place',
  leaderboard_person: 'Person',
  leaderboard_referrals: 'Referrals',
  anonymous: 'Anonymous',
  /** At one's own row. */
  you: '(you)',

  your_turn: 'It’s your turn',
  your_turn_text: 'You’ve been let in. Thank you for waiting.',
  your_turn_button: 'Get started',

  check_mail: 'Check your mail',
  check_mail_text: 'We sent you a link. Open it to take your place on the list.',
  check_mail_hint: 'No mail after a few minutes? Check your spam folder, or send it again.',
  resend: 'Send it again',
  /** After either button. */
  resent: 'A link is on its way. It can take a few minutes to arrive.',
  /** Must also fit people who joined before verification was turned on, and never got a mail. */
  unverified: 'Please confirm your email. No link from us yet? We’ll send you one.',
  send_link: 'Send me a link',
  verified: 'Your email is confirmed.',

  verify: 'Confirm your email',
  verify_text: 'One more click, and your signup counts.',
  verify_button: 'Confirm email',
  link_not_found: 'This link doesn’t work any more',
  link_not_found_text: 'A link works for 72 hours, and ends when you use a newer one. Sign up again to get another.',
  link_not_found_button: 'Sign up again',

  page_not_found: 'Page not found',
  page_not_found_text: 'Please check the address.',
};

export type TextKey = keyof typeof TEXTS;
export const TEXT_KEYS = Object.keys(TEXTS) as readonly TextKey[];

/** The texts of a waitlist in its language. */
export interface Texts {
  readonly lang: string;
  /** The text with its values; numbers are written as the language does. */
  readonly text: (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;
}

export function textsOf({ lang, texts }: Pick<PublicWaitlist, 'lang' | 'texts'>): Texts {
  const numbers = new Intl.NumberFormat(lang);
  return {
    lang,
    text: (key, values = {}) =>
      (texts[key] ?? TEXTS[key]).replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        return value === undefined ? placeholder : typeof value === 'number' ? numbers.format(value) : value;
      }),
  };
}

/** The texts that belong to no waitlist. */
export const DEFAULT_TEXTS = textsOf({ lang: 'en', texts: {} });

/** Languages, and scripts, that are written from right to left. */
const RIGHT_TO_LEFT = /^(?:ar|ckb|dv|fa|he|ks|ps|sd|ug|ur|yi)(?:-|$)|-(?:Arab|Hebr|Thaa)(?:-|$)/i;

export function directionOf(lang: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.test(lang) && !/-Latn(?:-|$)/i.test(lang) ? 'rtl' : 'ltr';
}
