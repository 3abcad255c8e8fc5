import { addColumn, index, migrationsOf, table } from './ddl.js';

/** Offers, and what a record and a waitlist keep of them. */
export const offers = migrationsOf(1797000000000, [
  addColumn('waiter', 'joined_priority', (is) => `${is.id} NULL`),
  addColumn('waiter', 'removed_reason', (is) => `${is.flag} NULL`),
  addColumn('waiter', 'offer_expires_at', (is) => `${is.time} NULL`),
  addColumn('waitlist', 'offers', (is) => `${is.json} NULL`),
  addColumn('waitlist', 'release_plan', (is) => `${is.json} NULL`),
  addColumn('waitlist', 'offered', (is) => `${is.id} NOT NULL DEFAULT 0`),
  addColumn('waitlist', 'referred_offered', (is) => `${is.id} NOT NULL DEFAULT 0`),
  addColumn('waitlist', 'seats_taken', (is) => `${is.id} NOT NULL DEFAULT 0`),
  addColumn('waitlist_day', 'offered', (is) => `${is.id} NOT NULL DEFAULT 0`),
  addColumn('waitlist_day', 'accepted', (is) => `${is.id} NOT NULL DEFAULT 0`),
  addColumn('waitlist_day', 'declined', (is) => `${is.id} NOT NULL DEFAULT 0`),
  addColumn('waitlist_day', 'expired', (is) => `${is.id} NOT NULL DEFAULT 0`),
  table(
    'offer',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NOT NULL,
      state ${is.flag} NOT NULL,
      code_hash ${is.code(64)} NULL,
      sealed_code ${is.code(255)} NULL,
      priority ${is.id} NOT NULL,
      hours INT NULL,
      made_at ${is.time} NOT NULL,
      renewed_at ${is.time} NULL,
      expires_at ${is.time} NULL,
      due_at ${is.time} NULL,
      accepted_at ${is.time} NULL,
      ended_at ${is.time} NULL,
      run_id ${is.code(64)} NULL`,
  ),
  index('offer_code', 'offer', 'code_hash', 'UNIQUE INDEX'),
  // The offers of a person; all of a waitlist.
  index('offer_waiter', 'offer', 'waitlist_id, waiter_uuid'),
  // Those whose time begins or ends.
  index('offer_due', 'offer', 'due_at, id'),
]);
