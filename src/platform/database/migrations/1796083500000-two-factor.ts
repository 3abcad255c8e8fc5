import { addColumn, migrationsOf, table } from './ddl.js';

/** Second factors of members. */
export const twoFactor = migrationsOf(1796083500000, [
  addColumn('member', 'has_two_factor', (is) => `${is.flag} NOT NULL DEFAULT 0`),
  table(
    'two_factor',
    (is) => `
      member_id ${is.code(36)} NOT NULL PRIMARY KEY,
      sealed_secret ${is.code(255)} NOT NULL,
      last_step ${is.id} NOT NULL,
      recovery_hashes ${is.json} NOT NULL,
      failures INT NOT NULL,
      locks INT NOT NULL,
      locked_until ${is.time} NULL,
      accepted_by ${is.code(36)} NULL`,
  ),
]);
