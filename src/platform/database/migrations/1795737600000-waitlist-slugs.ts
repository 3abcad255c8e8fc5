import { addColumn, index, migrationsOf, table } from './ddl.js';

export const waitlistSlugs = migrationsOf(1795737600000, [
  addColumn('waitlist', 'slug', (is) => `${is.code(40)} NULL`),
  // Every slug that a waitlist has or had. Earlier ones redirect to its page, and no other account may take them.
  table(
    'waitlist_slug',
    (is) => `
      slug ${is.code(40)} NOT NULL PRIMARY KEY,
      account_id ${is.id} NOT NULL,
      waitlist_id ${is.id} NOT NULL`,
  ),
  index('waitlist_slug_waitlist', 'waitlist_slug', 'waitlist_id'),
]);
