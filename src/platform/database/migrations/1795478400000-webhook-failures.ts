import { addColumn, migrationsOf } from './ddl.js';

export const webhookFailures = migrationsOf(1795478400000, [
  // Why the last attempt had no response.
  addColumn('delivery', 'last_failure', (is) => `${is.code(32)} NULL`),
]);
