import { index, migrationsOf, table } from './ddl.js';

/** The first schema. Each index's comment names its statements; test/queue/plans.spec.ts checks the frequent ones. */
export const initial = migrationsOf(1763683200000, [
  table(
    'account',
    (is) => `
      id ${is.generatedId},
      uuid ${is.code(36)} NOT NULL UNIQUE,
      email ${is.text(254)} NOT NULL,
      email_key ${is.key(512)} NOT NULL UNIQUE,
      password_hash ${is.code(255)} NOT NULL,
      token_version INT NOT NULL DEFAULT 0,
      disabled_at ${is.time} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  table(
    'login',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      account_id ${is.id} NOT NULL,
      token_version INT NOT NULL,
      current_jti ${is.code(36)} NOT NULL,
      previous_jti ${is.code(36)} NULL,
      created_at ${is.time} NOT NULL,
      last_used_at ${is.time} NOT NULL,
      revoked_at ${is.time} NULL,
      expires_at ${is.time} NOT NULL`,
  ),
  // Deleting expired logins.
  index('login_expiry', 'login', 'expires_at'),
  // Listing the logins of an account.
  index('login_account', 'login', 'account_id, last_used_at'),
  table(
    'account_key',
    (is) => `
      id ${is.generatedId},
      account_id ${is.id} NOT NULL,
      key_hash ${is.code(64)} NOT NULL UNIQUE,
      prefix ${is.code(6)} NOT NULL,
      name ${is.text(100)} NOT NULL,
      scope ${is.code(16)} NOT NULL,
      created_at ${is.time} NOT NULL,
      expires_at ${is.time} NULL,
      last_used_at ${is.time} NULL`,
  ),
  // Listing, counting and ending the keys of an account.
  index('account_key_account', 'account_key', 'account_id'),
  table(
    'waitlist',
    (is) => `
      id ${is.generatedId},
      account_id ${is.id} NOT NULL,
      api_key_hash ${is.code(64)} NOT NULL UNIQUE,
      public_key ${is.code(12)} NOT NULL UNIQUE,
      waitlist_name ${is.text(200)} NOT NULL,
      waitlist_url_location ${is.text(2048)} NULL,
      required_contact ${is.json} NOT NULL,
      default_region ${is.code(2)} NULL,
      questions ${is.json} NOT NULL,
      removed_questions ${is.json} NOT NULL,
      is_closed ${is.flag} NOT NULL,
      is_public ${is.flag} NOT NULL,
      hide_counts ${is.flag} NOT NULL,
      display ${is.json} NOT NULL,
      created_at ${is.time} NOT NULL,
      spots_per_referral INT NOT NULL,
      next_seq ${is.id} NOT NULL,
      active ${is.id} NOT NULL,
      offboarded ${is.id} NOT NULL,
      referred_active ${is.id} NOT NULL,
      referred_offboarded ${is.id} NOT NULL,
      verification ${is.code(8)} NOT NULL,
      fraud ${is.json} NOT NULL,
      captcha ${is.json} NULL,
      captcha_secret ${is.json} NULL,
      mail_subject ${is.text(200)} NULL,
      mail_text ${is.json} NULL,
      mail_on_offboarding ${is.flag} NOT NULL,
      next_pending ${is.id} NOT NULL DEFAULT 0,
      next_event ${is.id} NOT NULL DEFAULT 0,
      revision ${is.id} NOT NULL DEFAULT 0`,
  ),
  // Listing an owner's waitlists.
  index('waitlist_account', 'waitlist', 'account_id'),
  table(
    'taken_name',
    (is) => `
      name ${is.code(20)} NOT NULL PRIMARY KEY,
      account_id ${is.id} NOT NULL,
      waitlist_id ${is.id} NOT NULL`,
  ),
  table(
    'page_view',
    (is) => `
      waitlist_id ${is.id} NOT NULL,
      day ${is.code(10)} NOT NULL,
      views ${is.id} NOT NULL,
      PRIMARY KEY (waitlist_id, day)`,
  ),
  table(
    'waiter',
    (is) => `
      id ${is.generatedId},
      waitlist_id ${is.id} NOT NULL,
      seq ${is.id} NOT NULL,
      uuid ${is.code(36)} NOT NULL,
      email ${is.text(254)} NULL,
      email_key ${is.key(512)} NULL,
      mailbox_key ${is.key(512)} NULL,
      registered_email ${is.text(254)} NULL,
      phone ${is.text(32)} NULL,
      phone_key ${is.code(32)} NULL,
      first_name ${is.text(100)} NULL,
      last_name ${is.text(100)} NULL,
      metadata ${is.json} NULL,
      answers ${is.json} NULL,
      referral_token ${is.code(32)} NOT NULL,
      referred_by_token ${is.code(32)} NULL,
      referred ${is.flag} NOT NULL,
      credit ${is.flag} NOT NULL DEFAULT 0,
      credit_reasons ${is.code(128)} NULL,
      imported_referrals ${is.id} NOT NULL DEFAULT 0,
      credited_referrals ${is.id} NOT NULL DEFAULT 0,
      spots_advanced ${is.id} NOT NULL DEFAULT 0,
      rank_key ${is.id} NOT NULL,
      rank_bucket ${is.id} GENERATED ALWAYS AS (rank_key >> 5) STORED,
      status ${is.flag} NOT NULL DEFAULT 1,
      verified ${is.flag} NOT NULL DEFAULT 0,
      removed_at ${is.time} NULL,
      removed_priority ${is.id} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  // Positions, and pages in queue order. The narrowest bucket comes before the key so that equality finds it, in
  // correlated subqueries too.
  index('waiter_order', 'waiter', 'waitlist_id, status, rank_bucket, rank_key, seq DESC'),
  // Pages of the active or the offboarded records in join order; the pending ones in the order of their signups.
  index('waiter_joined', 'waiter', 'waitlist_id, status, seq'),
  // Pages of the referred records in join order.
  index('waiter_referred', 'waiter', 'waitlist_id, referred, status, seq'),
  // Pages and counts of the records that one record referred.
  index('waiter_referrer', 'waiter', 'waitlist_id, referred_by_token, status, seq, credit'),
  // The leaderboard, and a change of `spots_to_move_upon_referral`, which moves only the few records with credit.
  index('waiter_credited', 'waiter', 'waitlist_id, status, credited_referrals DESC, seq'),
  // Pages of the records of a status or a credit, by id.
  index('waiter_credit', 'waiter', 'waitlist_id, status, credit, id'),
  // Signups by the same mailbox.
  index('waiter_mailbox', 'waiter', 'waitlist_id, mailbox_key'),
  // Unique sequence numbers; verify, rebuild and purge read records in this order.
  index('waiter_seq', 'waiter', 'waitlist_id, seq', 'UNIQUE INDEX'),
  // Lookup by email; one record per email.
  index('waiter_email', 'waiter', 'waitlist_id, email_key', 'UNIQUE INDEX'),
  // Lookup by phone; one record per phone.
  index('waiter_phone', 'waiter', 'waitlist_id, phone_key', 'UNIQUE INDEX'),
  // Lookup by uuid, on any waitlist.
  index('waiter_uuid', 'waiter', 'uuid', 'UNIQUE INDEX'),
  // Lookup of referrers.
  index('waiter_token', 'waiter', 'waitlist_id, referral_token', 'UNIQUE INDEX'),
  table(
    'erased_waiter',
    (is) => `
      id ${is.id} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      seq ${is.id} NOT NULL,
      uuid ${is.code(36)} NOT NULL,
      referral_token ${is.code(32)} NOT NULL,
      referred_by_token ${is.code(32)} NULL,
      credit ${is.flag} NOT NULL,
      rank_key ${is.id} NOT NULL,
      created_at ${is.time} NOT NULL,
      erased_at ${is.time} NOT NULL`,
  ),
  // Verify and purge read tombstones in this order.
  index('erased_waiter_seq', 'erased_waiter', 'waitlist_id, seq', 'UNIQUE INDEX'),
  // An import skips the tokens of erased people.
  index('erased_waiter_token', 'erased_waiter', 'waitlist_id, referral_token', 'UNIQUE INDEX'),
  // Verify counts the erased referrals of a record.
  index('erased_waiter_referrer', 'erased_waiter', 'waitlist_id, referred_by_token, credit'),
  table(
    'queue_bucket',
    (is) => `
      waitlist_id ${is.id} NOT NULL,
      axis ${is.flag} NOT NULL,
      level ${is.flag} NOT NULL,
      parent ${is.id} NOT NULL,
      slot ${is.id} NOT NULL,
      before_in_parent ${is.id} NOT NULL,
      PRIMARY KEY (waitlist_id, axis, level, parent, slot)`,
  ),
  table(
    'waitlist_day',
    (is) => `
      waitlist_id ${is.id} NOT NULL,
      day ${is.code(10)} NOT NULL,
      signups ${is.id} NOT NULL,
      referred ${is.id} NOT NULL,
      offboarded ${is.id} NOT NULL,
      erased ${is.id} NOT NULL,
      PRIMARY KEY (waitlist_id, day)`,
  ),
  table(
    'recent_referral',
    (is) => `
      id ${is.generatedId},
      waitlist_id ${is.id} NOT NULL,
      referrer_token ${is.code(32)} NOT NULL,
      network ${is.code(43)} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  // A referrer's referrals of the last hour.
  index('recent_referral_referrer', 'recent_referral', 'waitlist_id, referrer_token, created_at'),
  // The same from one network.
  index('recent_referral_network', 'recent_referral', 'waitlist_id, referrer_token, network, created_at'),
  // Deleting old rows.
  index('recent_referral_created', 'recent_referral', 'created_at'),
  table(
    'webhook',
    (is) => `
      id ${is.generatedId},
      waitlist_id ${is.id} NOT NULL,
      url ${is.text(2048)} NOT NULL,
      events ${is.json} NOT NULL,
      is_active ${is.flag} NOT NULL,
      sealed_secret ${is.json} NOT NULL,
      sealed_old_secret ${is.json} NULL,
      old_secret_until ${is.time} NULL,
      failing_since ${is.time} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  // The webhooks that are on.
  index('webhook_active', 'webhook', 'is_active, id'),
  // The webhooks of a waitlist.
  index('webhook_waitlist', 'webhook', 'waitlist_id, id'),
  table(
    'signup_event',
    (is) => `
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NOT NULL,
      number ${is.id} NOT NULL,
      position ${is.id} NOT NULL,
      signup_page ${is.text(2048)} NOT NULL,
      questions ${is.json} NOT NULL,
      webhook_ids ${is.code(255)} NOT NULL,
      created_at ${is.time} NOT NULL,
      PRIMARY KEY (waitlist_id, waiter_uuid)`,
  ),
  table(
    'delivery',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      webhook_id ${is.id} NOT NULL,
      waitlist_id ${is.id} NOT NULL,
      number ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NULL,
      event ${is.code(20)} NOT NULL,
      payload_id ${is.code(36)} NULL,
      status ${is.code(9)} NOT NULL,
      attempts INT NOT NULL DEFAULT 0,
      last_status INT NULL,
      next_attempt_at ${is.time} NULL,
      created_at ${is.time} NOT NULL,
      expires_at ${is.time} NOT NULL`,
  ),
  // Claiming deliveries that are due.
  index('delivery_due', 'delivery', 'webhook_id, status, next_attempt_at, number'),
  // Pages of a webhook's deliveries.
  index('delivery_webhook', 'delivery', 'webhook_id, id'),
  // The first pending delivery about a person; all that tell of a person.
  index('delivery_waiter', 'delivery', 'waitlist_id, waiter_uuid, webhook_id, status, number'),
  // Failing and deleting old deliveries.
  index('delivery_expiry', 'delivery', 'expires_at'),
  table(
    'payload',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NULL,
      body ${is.json} NOT NULL,
      expires_at ${is.time} NOT NULL`,
  ),
  // All that tell of a person.
  index('payload_waiter', 'payload', 'waitlist_id, waiter_uuid'),
  // Deleting old payloads.
  index('payload_expiry', 'payload', 'expires_at'),
  table(
    'mail',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NULL,
      webhook_id ${is.id} NULL,
      kind ${is.code(16)} NOT NULL,
      mailbox_hash ${is.code(43)} NULL,
      network_hash ${is.code(43)} NULL,
      status ${is.code(9)} NOT NULL,
      attempts INT NOT NULL DEFAULT 0,
      next_attempt_at ${is.time} NULL,
      attempted_at ${is.time} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  // Mails of one kind that are due.
  index('mail_due', 'mail', 'status, kind, next_attempt_at'),
  // The mails to a person.
  index('mail_waiter', 'mail', 'waitlist_id, waiter_uuid, created_at'),
  // The last mails to a mailbox.
  index('mail_mailbox', 'mail', 'mailbox_hash, attempted_at'),
  // The last mails that a network caused.
  index('mail_network', 'mail', 'network_hash, attempted_at'),
  // Deleting old mails.
  index('mail_created', 'mail', 'created_at'),
  // Its one row is the lock under which mails are claimed.
  table(
    'mail_turn',
    (is) => `
      id ${is.flag} NOT NULL PRIMARY KEY,
      revision ${is.id} NOT NULL`,
  ),
  table(
    'verification_link',
    (is) => `
      token_hash ${is.code(64)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      waiter_uuid ${is.code(36)} NOT NULL,
      email_key ${is.key(512)} NOT NULL,
      created_at ${is.time} NOT NULL,
      expires_at ${is.time} NOT NULL,
      used_at ${is.time} NULL`,
  ),
  // The links of a person.
  index('verification_link_waiter', 'verification_link', 'waitlist_id, waiter_uuid'),
  // Deleting expired links.
  index('verification_link_expiry', 'verification_link', 'expires_at'),
  table(
    'audit_event',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      account_id ${is.id} NOT NULL,
      action ${is.code(40)} NOT NULL,
      waitlist_id ${is.id} NULL,
      request_id ${is.code(64)} NULL,
      address_hash ${is.code(43)} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  // Pages of an owner's events.
  index('audit_event_account', 'audit_event', 'account_id, id'),
  // The same for one waitlist.
  index('audit_event_waitlist', 'audit_event', 'account_id, waitlist_id, id'),
  // Deleting old events.
  index('audit_event_created', 'audit_event', 'created_at'),
  table(
    'audit_subject',
    (is) => `
      event_id ${is.code(36)} NOT NULL,
      position INT NOT NULL,
      uuid ${is.code(36)} NOT NULL,
      PRIMARY KEY (event_id, position)`,
  ),
  // The events that name a person.
  index('audit_subject_uuid', 'audit_subject', 'uuid'),
  table(
    'idempotency_key',
    (is) => `
      id ${is.code(64)} NOT NULL PRIMARY KEY,
      body_hash ${is.code(64)} NOT NULL,
      command_id ${is.code(36)} NOT NULL,
      counts ${is.json} NOT NULL,
      sealed_answer ${is.json} NULL,
      created_at ${is.time} NOT NULL`,
  ),
  // Deleting old keys.
  index('idempotency_key_created', 'idempotency_key', 'created_at'),
  table(
    'import_run',
    (is) => `
      id ${is.code(36)} NOT NULL PRIMARY KEY,
      waitlist_id ${is.id} NOT NULL,
      file_hash ${is.code(64)} NOT NULL,
      runner ${is.code(36)} NOT NULL,
      state ${is.code(8)} NOT NULL,
      first_seq ${is.id} NULL,
      amount ${is.id} NULL,
      rules ${is.json} NULL,
      report ${is.json} NULL,
      created_at ${is.time} NOT NULL,
      started_at ${is.time} NOT NULL,
      heartbeat_at ${is.time} NOT NULL`,
  ),
  // The runs of a waitlist, one per file.
  index('import_run_file', 'import_run', 'waitlist_id, file_hash', 'UNIQUE INDEX'),
  // Deleting old runs.
  index('import_run_heartbeat', 'import_run', 'heartbeat_at'),
  table(
    'deleted_waitlist',
    (is) => `
      waitlist_id ${is.id} NOT NULL PRIMARY KEY`,
  ),
]);
