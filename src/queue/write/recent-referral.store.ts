import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { chunksOf, placeholders, toSqlTime } from '../../platform/database/dialect.js';
import { mapped, type Query, select, together, write } from '../../platform/database/session.js';
import { Sweeper } from '../../platform/database/sweeper.js';

/** A rate counts the referrals of this long before now. */
const WINDOW_MS = 3_600_000;
/** Nothing reads a row, or the hash of a network in it, after that time. */
const KEPT_MS = 24 * 3_600_000;
const SWEEP_CHUNK = 1_000;
/** Rows in one statement. */
const ROWS_MAX = 1_000;

/** A referral, whether it was credited or not. */
export interface RecentReferral {
  readonly token: string;
  /** A keyed hash; null if the network is unknown or exempt. */
  readonly network: string | null;
  readonly at: Date;
}

/** The referrals of one referrer; only those from one network, unless `network` is null. */
export interface ReferralSource {
  readonly token: string;
  readonly network: string | null;
  /** The count stops here: a higher one changes no decision. */
  readonly max: number;
}

/** How many referrals of the last hour came from each source, by {@link sourceKey}, up to its `max`. */
export type RecentReferrals = ReadonlyMap<string, number>;

/** The key of a source in {@link RecentReferrals}. */
export function sourceKey(token: string, network: string | null): string {
  return network === null ? token : `${token}/${network}`;
}

/** Recent referrals, which the rates of referrals count. */
@Injectable()
export class RecentReferralStore {
  constructor(
    private readonly database: Database,
    sweeper: Sweeper,
  ) {
    sweeper.add({
      table: 'recent_referral',
      id: 'id',
      time: 'created_at',
      before: () => new Date(Date.now() - KEPT_MS),
      chunk: SWEEP_CHUNK,
    });
  }

  /** The database counts no more than `max` rows of a source, however many a flood has left. */
  count(waitlistId: number, sources: readonly ReferralSource[]): Query<RecentReferrals> {
    const since = toSqlTime(new Date(Date.now() - WINDOW_MS));
    const { dialect } = this.database;
    const counts = sources.map(({ token, network, max }) =>
      select<{ count: number }, [string, number]>(
        `SELECT COUNT(*) AS count FROM (${
          network === null
            ? `SELECT 1 FROM recent_referral ${dialect.byIndex('recent_referral_referrer')}
               WHERE waitlist_id = ? AND referrer_token = ? AND created_at > ? LIMIT ?`
            : `SELECT 1 FROM recent_referral ${dialect.byIndex('recent_referral_network')}
               WHERE waitlist_id = ? AND referrer_token = ? AND network = ? AND created_at > ? LIMIT ?`
        }) AS counted`,
        [waitlistId, token, ...(network === null ? [] : [network]), since, max],
        ([row]) => [sourceKey(token, network), Number(row?.count)],
      ),
    );
    return mapped(together(counts), (found) => new Map(found));
  }

  insert(waitlistId: number, referrals: readonly RecentReferral[]): Query<unknown> {
    return together(
      chunksOf(referrals, ROWS_MAX).map((some) =>
        write(
          `INSERT INTO recent_referral (waitlist_id, referrer_token, network, created_at)
           VALUES ${some.map(() => `(${placeholders(4)})`).join(', ')}`,
          some.flatMap(({ token, network, at }) => [waitlistId, token, network, toSqlTime(at)]),
        ),
      ),
    );
  }
}
