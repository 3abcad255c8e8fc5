import { migrationsOf, table } from './ddl.js';

export const welcomeMails = migrationsOf(1795996800000, [
  // Signups write it, so that it has no index but its key.
  table(
    'welcome_mail',
    (is) => `
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NOT NULL,
      network_hash ${is.code(64)} NULL,
      created_at ${is.time} NOT NULL,
      PRIMARY KEY (waitlist_id, waiter_uuid)`,
  ),
]);
