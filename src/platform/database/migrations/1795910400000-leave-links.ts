import { index, migrationsOf, table } from './ddl.js';

export const leaveLinks = migrationsOf(1795910400000, [
  table(
    'leave_link',
    (is) => `
      token_hash ${is.code(64)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NOT NULL,
      email_hash ${is.code(64)} NOT NULL,
      created_at ${is.time} NOT NULL,
      expires_at ${is.time} NOT NULL`,
  ),
  // Deleting those of a waitlist.
  index('leave_link_waitlist', 'leave_link', 'waitlist_id'),
  // Deleting expired links.
  index('leave_link_expiry', 'leave_link', 'expires_at'),
]);
