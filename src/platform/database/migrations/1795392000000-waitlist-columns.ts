import { migrationsOf, renameColumn } from './ddl.js';

/**
 * v0.2.0 must not work on this schema: each of its signups, lookups and offboardings reads `waitlist_name`, and its
 * start reads `captcha_secret`.
 */
export const waitlistColumns = migrationsOf(1795392000000, [
  renameColumn('waitlist', 'waitlist_name', 'name'),
  renameColumn('waitlist', 'captcha_secret', 'sealed_captcha_secret'),
]);
