import { index, migrationsOf, table } from './ddl.js';

export const memberLinks = migrationsOf(1796083300000, [
  table(
    'member_link',
    (is) => `
      token_hash ${is.code(64)} NOT NULL PRIMARY KEY,
      member_id ${is.code(36)} NOT NULL,
      kind ${is.code(16)} NOT NULL,
      expires_at ${is.time} NOT NULL`,
  ),
  // Ending those of a member.
  index('member_link_member', 'member_link', 'member_id'),
  // Deleting expired links.
  index('member_link_expiry', 'member_link', 'expires_at'),
  table(
    'member_mail',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      account_id ${is.id} NOT NULL,
      member_id ${is.code(36)} NOT NULL,
      kind ${is.code(32)} NOT NULL,
      sealed_link ${is.code(4096)} NULL,
      mailbox_hash ${is.code(64)} NOT NULL,
      status ${is.code(8)} NOT NULL,
      attempts INT NOT NULL,
      next_attempt_at ${is.time} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  // Mails that are due.
  index('member_mail_due', 'member_mail', 'status, next_attempt_at'),
  // Those that the bounds count.
  index('member_mail_mailbox', 'member_mail', 'mailbox_hash, created_at'),
  index('member_mail_account', 'member_mail', 'account_id, created_at'),
  // Ending those of a member.
  index('member_mail_member', 'member_mail', 'member_id, status'),
  // Deleting old mails.
  index('member_mail_age', 'member_mail', 'created_at'),
]);
