import { addColumn, dropColumn, fill, migrationsOf, table } from './ddl.js';

export const waitlistMails = migrationsOf(1795824000000, [
  // The owner's words of each kind of mail. Not in the row of the waitlist, which every signup reads and writes.
  table(
    'waitlist_mail',
    (is) => `
      waitlist_id ${is.id} NOT NULL,
      kind ${is.code(16)} NOT NULL,
      subject ${is.text(200)} NULL,
      text ${is.text(5000)} NULL,
      PRIMARY KEY (waitlist_id, kind)`,
  ),
  fill(
    'waitlist_mail',
    'waitlist',
    `INSERT INTO waitlist_mail (waitlist_id, kind, subject, text)
     SELECT id, 'verification', mail_subject, mail_text FROM waitlist
     WHERE id BETWEEN ? AND ? AND (mail_subject IS NOT NULL OR mail_text IS NOT NULL)`,
  ),
  dropColumn('waitlist', 'mail_subject', (is) => `${is.text(200)} NULL`),
  dropColumn('waitlist', 'mail_text', (is) => `${is.json} NULL`),
  addColumn('waitlist', 'mail_on_signup', (is) => `${is.flag} NOT NULL DEFAULT 0`),
  addColumn('mail', 'tested', (is) => `${is.code(16)} NULL`),
]);
