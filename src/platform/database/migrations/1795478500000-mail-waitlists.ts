import { index, migrationsOf } from './ddl.js';

export const mailWaitlists = migrationsOf(1795478500000, [
  // The waitlists that have mails of a kind, and the mails of one that are due.
  index('mail_waitlist', 'mail', 'status, kind, waitlist_id, next_attempt_at'),
]);
