import { Gauge, type Registry } from 'prom-client';
import { isUnavailable } from '../problems/problem.js';
import type { Database } from './database.js';
import type { Query } from './session.js';

/** For the reads of a scrape: the metrics of the process itself must come while the database is unavailable. */
export const SCRAPE_MS = 1_000;

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
      try {
        gauge.set(await database.one(read(), { deadlineMs: SCRAPE_MS }));
      } catch (error) {
        if (!isUnavailable(error)) throw error;
      }
    },
  });
}
