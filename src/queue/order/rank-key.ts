/** Keys start here, so that a record can move forward by all it may ever earn without going below 0. */
export const RANK_BASE = 2 ** 40;

/** Spots that the owner may grant a record in all: beyond any queue, and little enough to add up exactly. */
const SPOTS_ADVANCED_MAX = 1_000_000_000;

/** The facts that decide a position. */
export interface RankFacts {
  readonly seq: number;
  readonly creditedReferrals: number;
  readonly spotsAdvanced: number;
}

/**
 * The order: rank key ascending, and of equal keys the later `seq` first. So a referral worth three spots passes
 * exactly three records. Never below 0. Source: docs/architecture.md, "The order".
 */
export function rankKey(facts: RankFacts, spotsPerReferral: number): number {
  return Math.max(0, RANK_BASE + facts.seq - spotsPerReferral * facts.creditedReferrals - facts.spotsAdvanced);
}

/** A record with another number of credited referrals, and the rank key that follows. */
export function withCredits<Ranked extends RankFacts>(
  record: Ranked,
  creditedReferrals: number,
  spotsPerReferral: number,
) {
  return { ...record, creditedReferrals, rankKey: rankKey({ ...record, creditedReferrals }, spotsPerReferral) };
}

/** The granted spots of a record after more are granted, or some taken back. */
export function spotsAfter(spotsAdvanced: number, spotsToAdvance: number): number {
  return Math.min(SPOTS_ADVANCED_MAX, Math.max(0, spotsAdvanced + spotsToAdvance));
}
