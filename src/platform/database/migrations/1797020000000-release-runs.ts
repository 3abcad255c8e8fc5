import { index, migrationsOf, table } from './ddl.js';

/** The runs of release plans. */
export const releaseRuns = migrationsOf(1797020000000, [
  // A row for each active plan. Narrow, because every process reads the table some times a minute.
  table(
    'release_due',
    (is) => `
      waitlist_id ${is.id} NOT NULL PRIMARY KEY,
      due_at ${is.time} NULL,
      seen_at ${is.time} NOT NULL`,
  ),
  table(
    'release_run',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      state ${is.code(16)} NOT NULL,
      planned_at ${is.time} NOT NULL,
      ran_at ${is.time} NULL,
      count INT NOT NULL,
      offered INT NOT NULL,
      pieces INT NOT NULL,
      member_id ${is.code(36)} NULL,
      runner ${is.code(36)} NULL,
      heartbeat_at ${is.time} NULL`,
  ),
  // The list of a waitlist, newest first, and deleting its runs.
  index('release_run_waitlist', 'release_run', 'waitlist_id, id'),
  // The runs that go on.
  index('release_run_state', 'release_run', 'state, heartbeat_at'),
]);
