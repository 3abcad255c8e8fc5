import { addColumn, fill, migrationsOf } from './ddl.js';

/** How many people left the queue on a day, by an offer or by the owner: until now, those who were offboarded. */
export const departed = migrationsOf(1797030000000, [
  addColumn('waitlist_day', 'departed', (is) => `${is.id} NOT NULL DEFAULT 0`),
  // The days have no id, so the waitlists are its chunks.
  fill(
    'waitlist_day_departed',
    'waitlist',
    'UPDATE waitlist_day SET departed = offboarded WHERE waitlist_id BETWEEN ? AND ?',
  ),
]);
