import { addColumn, dropColumns, dropIndex, fill, index, migrationsOf, table } from './ddl.js';

/** Each account keeps what it owns; its email and password become those of its first member. */
export const members = migrationsOf(1796083200000, [
  table(
    'member',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      account_id ${is.id} NOT NULL,
      email ${is.text(254)} NOT NULL,
      email_key ${is.key(512)} NOT NULL UNIQUE,
      name ${is.text(100)} NULL,
      role ${is.code(8)} NOT NULL,
      password_hash ${is.code(255)} NULL,
      token_version INT NOT NULL DEFAULT 0,
      joined_at ${is.time} NULL,
      disabled_at ${is.time} NULL,
      created_at ${is.time} NOT NULL,
      last_login_at ${is.time} NULL`,
  ),
  // Pages of an account's members, and its owners.
  index('member_account', 'member', 'account_id, id'),
  fill(
    'member',
    'account',
    `INSERT INTO member (id, account_id, email, email_key, role, password_hash, token_version, joined_at, created_at, last_login_at)
     SELECT a.uuid, a.id, a.email, a.email_key, 'owner', a.password_hash, a.token_version, a.created_at, a.created_at,
       (SELECT MAX(l.created_at) FROM login l WHERE l.account_id = a.id)
     FROM account a WHERE a.id BETWEEN ? AND ?`,
  ),
  addColumn('login', 'member_id', (is) => `${is.code(36)} NOT NULL DEFAULT ''`),
  fill(
    'login_member',
    'account',
    `UPDATE login SET member_id = (SELECT a.uuid FROM account a WHERE a.id = login.account_id)
     WHERE account_id BETWEEN ? AND ?`,
  ),
  dropIndex('login_account', 'login', 'account_id, last_used_at'),
  dropIndex('login_expiry', 'login', 'expires_at'),
  dropColumns(
    'login',
    (is) => ({
      id: `${is.code(36)} NOT NULL PRIMARY KEY`,
      token_version: 'INT NOT NULL',
      current_jti: `${is.code(36)} NOT NULL`,
      previous_jti: `${is.code(36)} NULL`,
      created_at: `${is.time} NOT NULL`,
      last_used_at: `${is.time} NOT NULL`,
      revoked_at: `${is.time} NULL`,
      expires_at: `${is.time} NOT NULL`,
      member_id: `${is.code(36)} NOT NULL DEFAULT ''`,
    }),
    (is) => ({ account_id: `${is.id} NOT NULL` }),
  ),
  // Deleting expired logins.
  index('login_expiry', 'login', 'expires_at'),
  // Listing the logins of a member.
  index('login_member', 'login', 'member_id, last_used_at'),
  addColumn('mail', 'member_id', (is) => `${is.code(36)} NULL`),
  fill(
    'mail_member',
    'waitlist',
    `UPDATE mail SET member_id =
       (SELECT a.uuid FROM waitlist l JOIN account a ON a.id = l.account_id WHERE l.id = mail.waitlist_id)
     WHERE waitlist_id BETWEEN ? AND ? AND kind = 'webhook_disabled'`,
  ),
  dropColumns(
    'account',
    (is) => ({
      id: is.generatedId,
      uuid: `${is.code(36)} NOT NULL UNIQUE`,
      disabled_at: `${is.time} NULL`,
      created_at: `${is.time} NOT NULL`,
    }),
    (is) => ({
      email: `${is.text(254)} NOT NULL`,
      email_key: `${is.key(512)} NOT NULL UNIQUE`,
      password_hash: `${is.code(255)} NOT NULL`,
      token_version: 'INT NOT NULL DEFAULT 0',
    }),
  ),
  addColumn('account', 'name', (is) => `${is.text(100)} NULL`),
  addColumn('account', 'require_two_factor', (is) => `${is.flag} NOT NULL DEFAULT 0`),
  addColumn('account', 'revision', (is) => `${is.id} NOT NULL DEFAULT 0`),
  addColumn('account_key', 'created_by', (is) => `${is.code(36)} NULL`),
  addColumn('account_key', 'waitlist_ids', (is) => `${is.json} NULL`),
  addColumn('audit_event', 'member_id', (is) => `${is.code(36)} NULL`),
  // Pages of what a member did.
  index('audit_event_member', 'audit_event', 'account_id, member_id, id'),
  addColumn('idempotency_key', 'holder', (is) => `${is.code(64)} NULL`),
]);
