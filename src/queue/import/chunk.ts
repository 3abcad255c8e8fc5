/**
 * Decides a chunk of an import: facts in, decision out, no database, as `batch.ts` does for commands.
 *
 * The lines come in the order of their reserved numbers, which is not that of referrals: a line can name a referrer whose
 * number is greater. It then stores the file's token. If that referrer gets another token, because the file's is taken or
 * the person has a record already, the records that name the file's token are renamed in the transaction that finds out.
 * So each transaction leaves exact counts and positions, a run can end after any of them, and the next run of the file
 * recognizes the done lines by their numbers.
 */
import { v7 as uuidV7 } from 'uuid';
import { finderByContact } from '../admission/contact.js';
import { CounterChanges, countRecord } from '../counters.js';
import { rankKey } from '../rank-key.js';
import { newReferralToken } from '../referral-link.js';
import type { StoredWaiter } from '../waiter.js';
import type { LeanWaitlist } from '../waitlist.table.js';

/** The facts of a record that a line brings as they are. */
export type ImportedFacts = Pick<
  StoredWaiter,
  | 'email'
  | 'emailKey'
  | 'registeredEmail'
  | 'phone'
  | 'phoneKey'
  | 'firstName'
  | 'lastName'
  | 'metadata'
  | 'answers'
  | 'spotsAdvanced'
  | 'importedReferrals'
  | 'active'
  | 'verified'
  | 'removedAt'
  | 'removedPriority'
  | 'createdAt'
>;

/** A line of the file that is not rejected. */
export interface ImportLine {
  /** Its reserved number. */
  readonly seq: number;
  readonly facts: ImportedFacts;
  readonly uuid: string | null;
  /** The token that it brings; null if it brings none, or an earlier line has it. */
  readonly token: string | null;
  /** The tokens of later lines about the same person. */
  readonly otherTokens: readonly string[];
  /** An earlier line is about the same person. */
  readonly isRepeated: boolean;
  readonly referrer: LineReferrer | null;
}

export interface LineReferrer {
  /** As the file names it. */
  readonly token: string;
  /** The token of the referrer's record, where an earlier chunk found out that it is another. */
  readonly renamed: string | null;
  /** Whether a line of the file brings the token. */
  readonly isInFile: boolean;
}

export interface ChunkFacts {
  readonly waitlist: LeanWaitlist;
  /** The tokens of the records and tombstones that have the numbers of the chunk already. */
  readonly numbered: ReadonlyMap<number, string>;
  /** Tokens of lines that erased people of the waitlist had. */
  readonly erased: ReadonlySet<string>;
  /** The records with the email or phone of a line. */
  readonly known: readonly StoredWaiter[];
  /** The records that have the token of a line, or of a line's referrer. */
  readonly holders: readonly StoredWaiter[];
  /** Uuids of lines that records of any waitlist have. */
  readonly uuids: ReadonlySet<string>;
  /** How many records and tombstones name the token of a line as their referrer's. */
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

/** What to store. */
export interface ChunkDecision {
  readonly waitlist: LeanWaitlist;
  readonly records: readonly Omit<StoredWaiter, 'id'>[];
  /** Referrers with their new counts and rank keys. */
  readonly credited: readonly StoredWaiter[];
  readonly counters: CounterChanges;
  /** Records whose referrer neither the file nor the waitlist knows. */
  readonly unresolved: number;
}

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

/** `moved` is how many stored records of the run name each renamed token. */
export function place(
  { waitlist: locked, known, holders, uuids, referrals }: ChunkFacts,
  { newcomers, renamings }: Matching,
  moved: ReadonlyMap<string, number>,
): ChunkDecision {
  const waitlist = { ...locked };
  const counters = new CounterChanges(locked);
  const renamed = new Map(renamings.map(({ from, to }) => [from, to]));
  const stored = new Map([...known, ...holders].map((waiter) => [waiter.referralToken, waiter]));
  const changes = new Map<string, number>();
  const add = (token: string, amount: number) => changes.set(token, (changes.get(token) ?? 0) + amount);
  const ownTokens = new Set(newcomers.map(({ ownToken }) => ownToken));
  let unresolved = 0;
  const referrers = newcomers.map(({ ownToken, referrer }) => {
    if (referrer === null) return null;
    const token = renamed.get(referrer.token) ?? referrer.renamed ?? referrer.token;
    // People do not refer themselves.
    if (token === ownToken) return null;
    add(token, 1);
    if (!referrer.isInFile && !stored.has(token) && !ownTokens.has(token)) unresolved += 1;
    return token;
  });
  for (const { from, to } of renamings) {
    add(from, -(moved.get(from) ?? 0));
    add(to, moved.get(from) ?? 0);
  }
  const takenUuids = new Set(uuids);
  const records = newcomers.map(({ seq, facts, uuid: given, ownToken }, index) => {
    const referredByToken = referrers[index] ?? null;
    const amountReferred = facts.importedReferrals + (referrals.get(ownToken) ?? 0) + (changes.get(ownToken) ?? 0);
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
      amountReferred,
      creditedReferrals: amountReferred,
    };
    return { ...record, rankKey: rankKey(record, waitlist.spotsPerReferral) };
  });
  for (const record of records) {
    counters.count(record, record.active, 1);
    countRecord(waitlist, record, 1);
  }
  const credited = Array.from(changes).flatMap(([token, amount]): StoredWaiter[] => {
    const waiter = stored.get(token);
    if (!waiter || amount === 0) return [];
    const amounts = {
      amountReferred: waiter.amountReferred + amount,
      creditedReferrals: waiter.creditedReferrals + amount,
    };
    const changed = { ...waiter, ...amounts };
    return [{ ...changed, rankKey: rankKey(changed, waitlist.spotsPerReferral) }];
  });
  for (const { referralToken, active, referred, rankKey: to } of credited)
    if (active) counters.move(stored.get(referralToken)?.rankKey as number, to, referred);
  return { waitlist, records, credited, counters, unresolved };
}
