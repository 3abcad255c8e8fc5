export const PASSWORD_LENGTH_MIN = 15;
export const PASSWORD_LENGTH_MAX = 256;

/** NIST 800-63B-4, 3.1.1.2: length, and no rules of composition. */
export const PASSWORD_RULE = `must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`;

export function fitsPasswordRule(password: string): boolean {
  // As typed too: one letter can stand for many.
  return [password, normalPassword(password)].every((text) => {
    const length = [...text].length;
    return length >= PASSWORD_LENGTH_MIN && length <= PASSWORD_LENGTH_MAX;
  });
}

/** The form that is measured and hashed: the same text, whichever way a keyboard composes its letters. */
export function normalPassword(password: string): string {
  return password.normalize('NFKC');
}
