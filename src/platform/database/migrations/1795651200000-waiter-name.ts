import { nameKey } from '../../contract/name-key.js';
import { addColumn, fillColumn, index, migrationsOf } from './ddl.js';

export const waiterName = migrationsOf(1795651200000, [
  addColumn('waiter', 'name_key', (is) => `${is.key(100)} NULL`),
  fillColumn('waiter_name_key', 'waiter', 'name_key', ['first_name', 'last_name'], (row) =>
    nameKey({ firstName: row.first_name, lastName: row.last_name }),
  ),
  // For pages of the records whose name begins with a given text.
  index('waiter_name', 'waiter', 'waitlist_id, status, name_key, id'),
]);
