import { normalPassword } from '../platform/password-rule.js';

/** Of zxcvbn's 0 to 4, the least whose guessing takes more than 10^8 tries. */
const SCORE_MIN = 3;
/** Beyond it the estimate takes long and says nothing new. */
const JUDGED_LENGTH_MAX = 64;
const SERVICE_WORDS = ['waitlist', 'service', 'waitlist service'];

export const BLOCKLIST_RULE =
  'must not be easily guessed: a common password, a repetition, a row of keys, or made from the email';

/**
 * Whether a password is among those tried first: a list of leaked ones and what people derive from it, rows of keys,
 * repetitions, and words that its account gives away (NIST 800-63B-4, 3.1.1.2).
 */
export async function isEasilyGuessed(password: string, email: string): Promise<boolean> {
  const guesser = await (loadedGuesser ??= loadGuesser());
  const context = [email, ...email.split('@'), ...email.split(/[^\p{L}\p{N}]+/u), ...SERVICE_WORDS];
  return guesser.check(normalPassword(password), context).score < SCORE_MIN;
}

let loadedGuesser: ReturnType<typeof loadGuesser> | undefined;

/** Its lists take some 30 MB, so a process that sets no password never loads them. */
async function loadGuesser() {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: JUDGED_LENGTH_MAX });
}
