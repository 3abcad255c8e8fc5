import { index, migrationsOf, table } from './ddl.js';

export const leaveLinks = migrationsOf(1795910400000, [
  table(
    'leave_link',
    (is) => `
      token_hash ${is.code(64)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NOT NULL,
      created_at ${is.time} NOT NULL,
      expires_at ${is.time} NOT NULL`,
  ),
  // The links of a person.
  index('leave_link_waiter', 'leave_link', 'waitlist_id, waiter_uuid'),
  // Deleting expired links.
  index('leave_link_expiry', 'leave_link', 'expires_at'),
]);
