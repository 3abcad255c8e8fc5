/** The facts that decide a position. */
export interface Earned {
  readonly seq: number;
  readonly referrals: number;
  /** Spots that the owner granted. */
  readonly advanced: number;
}

/** The specified order, written in the simplest way: by earned spots, and the later first among equals. */
export function inOrder<Person extends Earned>(active: readonly Person[], spots: number): Person[] {
  const key = ({ seq, referrals, advanced }: Earned) => seq - spots * referrals - advanced;
  return [...active].sort((a, b) => key(a) - key(b) || b.seq - a.seq);
}
