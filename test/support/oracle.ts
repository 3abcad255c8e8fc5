/** What decides a place. */
export interface Earned {
  readonly seq: number;
  readonly referrals: number;
}

/** The order as it is meant: by what each of the active has earned, the later first among equals. */
export function inOrder<Person extends Earned>(active: readonly Person[], spots: number): Person[] {
  const key = ({ seq, referrals }: Earned) => seq - spots * referrals;
  return [...active].sort((a, b) => key(a) - key(b) || b.seq - a.seq);
}
