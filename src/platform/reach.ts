/** The waitlists that a caller sees and changes. Queries take it, so that they find no other account's waitlist. */
export interface Reach {
  readonly accountId: number;
  /** Null for all of the account; a key may be limited to some. */
  readonly waitlistIds: readonly number[] | null;
}

/** The waitlists of an account. */
export function allOf(accountId: number): Reach {
  return { accountId, waitlistIds: null };
}

/** The SQL condition that rows with these columns are within the reach. */
export function within(
  { accountId, waitlistIds }: Reach,
  columns: { readonly account: string; readonly waitlist: string },
): { readonly sql: string; readonly values: readonly number[] } {
  const owned = `${columns.account} = ?`;
  if (waitlistIds === null) return { sql: owned, values: [accountId] };
  // No list of values is empty in SQL.
  const ids = waitlistIds.length > 0 ? waitlistIds : [0];
  return {
    sql: `${owned} AND ${columns.waitlist} IN (${ids.map(() => '?').join(', ')})`,
    values: [accountId, ...ids],
  };
}
