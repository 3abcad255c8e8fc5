/**
 * Decides a chunk of an import: facts in, decision out, no database, as `write/decide.ts` does for commands.
 *
 * The lines come in the order of their reserved numbers. A line can name a referrer whose number is greater; its record
 * then stores the token that the file gives. The referrer's record can get another token, if the file's is taken or the
 * person already has a record. Then the transaction that decides this also renames the token in the records that are
 * stored. So each transaction leaves exact counts and positions, and a run can end after any of them: the next run of
 * the file recognizes the stored lines by their numbers.
 */
import { v7 as uuidV7 } from 'uuid';
import { nameKey } from '../../platform/contract/name-key.js';
import { finderByContact } from '../record/contact.js';
import { LedgerChanges } from '../order/ledger-changes.js';
import { rankKey, withCredits } from '../order/rank-key.js';
import { newReferralToken } from '../record/referral-link.js';
import { foldedMailbox } from '../../fraud/mailbox.js';
import type { Credit, StoredWaiter } from '../record/waiter.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';

/** The fields of a record that its line decides alone. */
export type ImportedFacts = Omit<
  StoredWaiter,
  | 'id'
  | 'waitlistId'
  | 'seq'
  | 'uuid'
  | 'referralToken'
  | 'referredByToken'
  | 'referred'
  | 'credit'
  | 'mailboxKey'
  | 'nameKey'
  | 'creditedReferrals'
  | 'rankKey'
>;

/** A line of the file that is not rejected. */
export interface ImportLine {
  /** Its reserved number. */
  readonly seq: number;
  readonly facts: ImportedFacts;
  readonly uuid: string | null;
  /** Its own token; null if it has none, or if an earlier line has the same. */
  readonly token: string | null;
  /** The own tokens of later lines about the same person. */
  readonly otherTokens: readonly string[];
  /** Whether an earlier line is about the same person. */
  readonly isRepeated: boolean;
  readonly referrer: LineReferrer | null;
  /** The referral's credit. `none`: the referrer is unknown. For a known one, null and `none` count as `credited`. */
  readonly credit: Credit | null;
}

export interface LineReferrer {
  /** As the file names it. */
  readonly token: string;
  /** The token of the referrer's record, if an earlier chunk gave it another; otherwise null. */
  readonly renamed: string | null;
  /** Whether the token is a line's own. */
  readonly isInFile: boolean;
}

export interface ChunkFacts {
  readonly waitlist: LeanWaitlist;
  /** The tokens of the records and tombstones that have the numbers of the chunk already. */
  readonly numbered: ReadonlyMap<number, string>;
  /** The tokens of lines that tombstones of the waitlist have. */
  readonly erased: ReadonlySet<string>;
  /** The records with the email or phone of a line. */
  readonly known: readonly StoredWaiter[];
  /** The records that have the token of a line, or of a line's referrer. */
  readonly holders: readonly StoredWaiter[];
  /** The uuids of lines that records of any waitlist have. */
  readonly uuids: ReadonlySet<string>;
  /**
   * How many credited records and tombstones name the token of a line as their referrer's, with those that are credited
   * only once the token has its record.
   */
  readonly referrals: ReadonlyMap<string, number>;
}

/** A token of the file whose record has another. */
export interface Renaming {
  readonly from: string;
  readonly to: string;
}

/** Which lines become records, and with which tokens. */
export interface Matching {
  readonly newcomers: readonly (ImportLine & { readonly ownToken: string })[];
  readonly skipped: number;
  readonly renamings: readonly Renaming[];
}

/** The changes to store. */
export interface ChunkDecision {
  readonly records: readonly Omit<StoredWaiter, 'id'>[];
  /** Referrers with their new counts and rank keys. */
  readonly changedReferrers: readonly StoredWaiter[];
  readonly ledger: LedgerChanges<LeanWaitlist>;
  /** Records whose referrer neither the file nor the waitlist knows. */
  readonly unresolved: number;
}

/** The columns of a new record that its referral decides. */
type LineReferral = Pick<StoredWaiter, 'referredByToken' | 'credit'>;

const NO_REFERRER: LineReferral = { referredByToken: null, credit: 'none' };

/** Matches the lines with existing records. A line that has its record, or whose person has one, is skipped. */
export function match(facts: ChunkFacts, lines: readonly ImportLine[]): Matching {
  const findByContact = finderByContact(facts.known);
  const taken = new Set(facts.holders.map(({ referralToken }) => referralToken));
  const newcomers: (ImportLine & { ownToken: string })[] = [];
  const renamings: Renaming[] = [];
  let skipped = 0;
  for (const line of lines) {
    const { token } = line;
    const known = facts.numbered.get(line.seq) ?? findByContact(line.facts)?.referralToken;
    const isErased = token !== null && facts.erased.has(token);
    if (line.isRepeated || known !== undefined || isErased) skipped += 1;
    if (line.isRepeated || (known === undefined && isErased)) continue;
    const ownToken = known ?? (token !== null && !taken.has(token) ? token : newReferralToken());
    if (known === undefined) newcomers.push({ ...line, ownToken });
    const others = [token, ...line.otherTokens].filter((other) => other !== null && other !== ownToken);
    renamings.push(...others.map((other) => ({ from: other as string, to: ownToken })));
  }
  return { newcomers, skipped, renamings };
}

/**
 * Decides the new records, the referrals of their referrers, and the counters. `moved`: for each renamed token, how
 * many stored records of the run name it as referrer.
 */
export function decideChunk(
  facts: ChunkFacts,
  { newcomers, renamings }: Matching,
  moved: ReadonlyMap<string, number>,
): ChunkDecision {
  const waitlist = { ...facts.waitlist };
  const stored = new Map([...facts.known, ...facts.holders].map((waiter) => [waiter.referralToken, waiter]));
  const referrals = referralsOf(newcomers, renamings, stored);
  const gains = gainsOf(referrals, renamings, moved);
  const records = recordsOf(newcomers, referrals, gains, facts);
  const ledger = new LedgerChanges(waitlist);
  for (const record of records) ledger.add(record);
  const changedReferrers = Array.from(gains).flatMap(([token, amount]) => {
    const waiter = stored.get(token);
    if (!waiter || amount === 0) return [];
    const changed = withCredits(waiter, waiter.creditedReferrals + amount, waitlist.spotsPerReferral);
    ledger.move(waiter, changed.rankKey);
    return [changed];
  });
  return { records, changedReferrers, ledger, unresolved: referrals.filter(isUnresolved).length };
}

/** The referral of each newcomer, in their order. */
function referralsOf(
  newcomers: Matching['newcomers'],
  renamings: readonly Renaming[],
  stored: ReadonlyMap<string, StoredWaiter>,
): LineReferral[] {
  const renamed = new Map(renamings.map(({ from, to }) => [from, to]));
  const ownTokens = new Set(newcomers.map(({ ownToken }) => ownToken));
  return newcomers.map(({ ownToken, referrer, credit }) => {
    const token = referrer && (renamed.get(referrer.token) ?? referrer.renamed ?? referrer.token);
    // A record cannot refer itself.
    if (referrer === null || token === null || token === ownToken) return NO_REFERRER;
    const isKnown = referrer.isInFile || stored.has(token) || ownTokens.has(token);
    if (!isKnown) return { referredByToken: token, credit: 'none' };
    return { referredByToken: token, credit: credit === null || credit === 'none' ? 'credited' : credit };
  });
}

/** Whether neither the file nor the waitlist knows the referrer. The referral of a known one has a credit. */
function isUnresolved({ referredByToken, credit }: LineReferral): boolean {
  return referredByToken !== null && credit === 'none';
}

/** How many credited referrals each token gains, or below 0 loses, by the newcomers and by the renamings. */
function gainsOf(
  referrals: readonly LineReferral[],
  renamings: readonly Renaming[],
  moved: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const gains = new Map<string, number>();
  const add = (token: string, amount: number) => gains.set(token, (gains.get(token) ?? 0) + amount);
  for (const { referredByToken, credit } of referrals)
    if (referredByToken !== null && credit === 'credited') add(referredByToken, 1);
  for (const { from, to } of renamings) {
    add(from, -(moved.get(from) ?? 0));
    add(to, moved.get(from) ?? 0);
  }
  return gains;
}

/** The records of the newcomers, in their order. */
function recordsOf(
  newcomers: Matching['newcomers'],
  referrals: readonly LineReferral[],
  gains: ReadonlyMap<string, number>,
  { waitlist, uuids, referrals: waiting }: ChunkFacts,
): ChunkDecision['records'] {
  const takenUuids = new Set(uuids);
  return newcomers.map(({ seq, facts, uuid: given, ownToken }, index) => {
    const { referredByToken, credit } = referrals[index] ?? NO_REFERRER;
    const creditedReferrals = facts.importedReferrals + (waiting.get(ownToken) ?? 0) + (gains.get(ownToken) ?? 0);
    const uuid = given === null || takenUuids.has(given) ? uuidV7() : given;
    takenUuids.add(uuid);
    const record = {
      ...facts,
      waitlistId: waitlist.id,
      seq,
      uuid,
      referralToken: ownToken,
      referredByToken,
      referred: referredByToken !== null,
      credit,
      mailboxKey: foldedMailbox(facts.emailKey),
      nameKey: nameKey(facts),
      creditedReferrals,
    };
    return { ...record, rankKey: rankKey(record, waitlist.spotsPerReferral) };
  });
}
