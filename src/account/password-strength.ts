import { fitsPasswordRule, normalPassword, PASSWORD_RULE } from '../platform/contract/password-rule.js';
import { Problem } from '../platform/problems/problem.js';

/** As zxcvbn estimates them. At 10^12 a stolen argon2id hash takes years, and guessing online takes centuries. */
const GUESSES_MIN = 1e12;
/** Beyond it the estimate takes long and says nothing new. */
const JUDGED_LENGTH_MAX = 64;
/** A space between words would count as one more guess, although most people put one there. */
const SEPARATORS = /[\s\p{P}]+/gu;
/** Readings of `4` as `a` and the like to try; at the library's default of 100 one password takes up to a second. */
const L33T_SUBSTITUTIONS_MAX = 10;

const STRENGTH_RULE =
  'must not be easily guessed: a common password, a few words, a repetition, a row of keys, or made from the email';

/** @throws Problem `INVALID_REQUEST` for a password that a member must not have */
export async function requirePassword(password: string, email: string, field = 'password'): Promise<void> {
  if (!fitsPasswordRule(password)) throw Problem.invalid([{ field, rule: 'min_length', message: PASSWORD_RULE }]);
  if (!(await isEasilyGuessed(password, email))) return;
  throw Problem.invalid([{ field, rule: 'strength', message: STRENGTH_RULE }]);
}

/** Whether a password is common, predictable, or made from the member's email (NIST 800-63B-4, 3.1.1.2). */
async function isEasilyGuessed(password: string, email: string): Promise<boolean> {
  const zxcvbn = await (loaded ??= load());
  const known = ['waitlist', email, ...email.split(/[^\p{L}\p{N}]+/u)];
  const typed = normalPassword(password);
  return [typed, typed.replaceAll(SEPARATORS, '')].some((text) => zxcvbn.check(text, known).guesses < GUESSES_MIN);
}

let loaded: ReturnType<typeof load> | undefined;

/** The dictionaries take some 30 MB, so a process that sets no password never loads them. */
async function load() {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ]);
  return new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary },
    graphs: common.adjacencyGraphs,
    maxLength: JUDGED_LENGTH_MAX,
    l33tMaxSubstitutions: L33T_SUBSTITUTIONS_MAX,
  });
}
