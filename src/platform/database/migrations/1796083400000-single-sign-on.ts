import { addColumn, index, migrationsOf } from './ddl.js';

/** Who members are at the provider of single sign-on, and how a login was made. */
export const singleSignOn = migrationsOf(1796083400000, [
  addColumn('member', 'sso_issuer', (is) => `${is.code(255)} NULL`),
  addColumn('member', 'sso_subject', (is) => `${is.code(255)} NULL`),
  index('member_identity', 'member', 'sso_issuer, sso_subject', 'UNIQUE INDEX'),
  addColumn('login', 'method', (is) => `${is.code(8)} NOT NULL DEFAULT 'password'`),
  addColumn('login', 'link_hash', (is) => `${is.code(64)} NULL`),
  addColumn('login', 'link_expires_at', (is) => `${is.time} NULL`),
]);
