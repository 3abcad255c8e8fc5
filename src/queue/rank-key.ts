/** Keys start here, so that a record can move forward by all it may ever earn without going below 0. */
export const RANK_BASE = 2 ** 40;

/** What decides a place. `seq` is dense and unique within a waitlist, so no two are equal. */
export interface RankFacts {
  readonly seq: number;
  readonly creditedReferrals: number;
  readonly spotsAdvanced: number;
}

/** Smaller is served first; never below 0. Source: docs/architecture.md, "The order". */
export function rankKey(facts: RankFacts, spotsPerReferral: number): number {
  return Math.max(0, RANK_BASE + facts.seq - spotsPerReferral * facts.creditedReferrals - facts.spotsAdvanced);
}

/** Where an owner did not say. */
export const SPOTS_PER_REFERRAL_DEFAULT = 3;

/** What a referral was worth when a record's key was derived. The record has credit, and its key is above 0. */
export function spotsPerReferralBy(facts: RankFacts, key: number): number {
  return (RANK_BASE + facts.seq - facts.spotsAdvanced - key) / facts.creditedReferrals;
}
