/** Where a page of a listing starts, after a record or at the first one, and how many records it has at most. */
export interface PageAfter<Id extends number | string> {
  readonly afterId: Id | null;
  readonly limit: number;
}

/**
 * Cuts a page from records of which one more than `limit` was asked for: it shows that there is a next page.
 * `nextAfterId` is the id after which that starts; null on the last page.
 */
export function pageOf<Item extends { readonly id: number | string }>(
  found: readonly Item[],
  limit: number,
): { readonly items: readonly Item[]; readonly nextAfterId: Item['id'] | null } {
  const items = found.slice(0, limit);
  return { items, nextAfterId: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}
