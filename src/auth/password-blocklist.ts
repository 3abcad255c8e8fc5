import { normalPassword } from '../platform/contract/password-rule.js';
import { WELL_KNOWN_PHRASES } from './well-known-phrases.js';

/** Three words, from whatever list, are guessed in fewer; four that belong to no phrase in more. */
const GUESSES_MIN = 1e12;
/** Beyond it the estimate takes long and says nothing new. */
const JUDGED_LENGTH_MAX = 64;
/** Readings of `4` as `a` and the like that are tried; at 100, the library's own, a password takes up to a second. */
const DISGUISES_MAX = 10;
/** What this service is about, and passwords are: they add nothing to guess, however many there are. */
const CONTEXT_WORDS = [
  ...['waitlist', 'waiting', 'waiter', 'service', 'owner', 'signup', 'referral'],
  ...['password', 'passphrase', 'secret', 'secure', 'admin'],
];
/** Shorter ones of an email stand in many other words. */
const EMAIL_WORD_LENGTH_MIN = 4;
/** What people put between words. */
const SEPARATORS = /[\s\p{P}]+/gu;

export const BLOCKLIST_RULE =
  'must not be easily guessed: a common password or phrase, a few words, a repetition, a row of keys, or made from the email';

/**
 * Whether a password is among those tried first: leaked ones, common words and well-known phrases and what people derive
 * from them, rows of keys, repetitions, and words that its account or this service gives away (NIST 800-63B-4, 3.1.1.2).
 */
export async function isEasilyGuessed(password: string, email: string): Promise<boolean> {
  const guesser = await (loadedGuesser ??= loadGuesser());
  const emailWords = email.split(/[^\p{L}\p{N}]+/u);
  const known = [email, bare(email), ...email.split('@'), ...emailWords, ...CONTEXT_WORDS];
  const given = [...emailWords.filter(({ length }) => length >= EMAIL_WORD_LENGTH_MIN), ...CONTEXT_WORDS];
  const typed = normalPassword(password);
  // Each space would count as a guess more, though everybody puts one between words.
  const joined = bare(typed);
  return [typed, joined, joined.replaceAll(new RegExp(given.join('|'), 'giu'), '')].some(
    (text) => guesser.check(text, known).guesses < GUESSES_MIN,
  );
}

function bare(text: string): string {
  return text.replaceAll(SEPARATORS, '');
}

let loadedGuesser: ReturnType<typeof loadGuesser> | undefined;

/** Its lists take some 30 MB, so a process that sets no password never loads them. */
async function loadGuesser() {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ]);
  return new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary, phrases: WELL_KNOWN_PHRASES.map(bare) },
    graphs: common.adjacencyGraphs,
    maxLength: JUDGED_LENGTH_MAX,
    l33tMaxSubstitutions: DISGUISES_MAX,
  });
}
