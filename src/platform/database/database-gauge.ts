import { setTimeout } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { isUnavailable } from '../problems/problem.js';
import type { Database } from './database.js';
import type { Query } from './session.js';

/** The metrics of the process itself must come while the database is unavailable. */
const SCRAPE_MS = 1_000;

/**
 * The result of a read for a scrape; null if the database is unavailable, or late. A late read goes on: if it had a
 * shorter deadline, it would look like a lost connection.
 */
export async function readForScrape<Result>(database: Database, query: Query<Result>): Promise<Result | null> {
  try {
    return await Promise.race([database.one(query), setTimeout(SCRAPE_MS, null, { ref: false })]);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return null;
  }
}

/** A gauge that is read from the database, so all processes show the same. */
export function databaseGauge(
  registry: Registry,
  database: Database,
  { name, help, read }: { readonly name: string; readonly help: string; readonly read: () => Query<number> },
): void {
  const gauge: Gauge = new Gauge({
    name,
    help: `${help} Absent while the database is unavailable.`,
    registers: [registry],
    collect: async () => {
      gauge.remove();
      const value = await readForScrape(database, read());
      if (value !== null) gauge.set(value);
    },
  });
}
