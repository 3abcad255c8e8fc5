import { timestamp } from '../contract/formats.js';
import type { AuditEventEntity } from './audit-event.entity.js';

export const AUDIT_ACTIONS = [
  'account_created',
  'account_disabled',
  'account_enabled',
  'account_updated',
  'member_invited',
  'member_joined',
  'member_updated',
  'member_role_changed',
  'member_disabled',
  'member_enabled',
  'member_removed',
  'password_set',
  'password_changed',
  'two_factor_set_up',
  'two_factor_removed',
  'password_reset_started',
  'password_reset',
  'login_failed',
  'login_throttled',
  'refresh_token_reused',
  'session_ended',
  'waitlist_created',
  'waitlist_updated',
  'waitlist_deleted',
  'api_key_replaced',
  'account_key_created',
  'account_key_revoked',
  'waiters_offboarded',
  'offers_made',
  'offer_accepted',
  'offer_declined',
  'offers_expired',
  'offer_link_made',
  'waiters_returned',
  'release_plan_changed',
  'release_ran',
  'waiters_imported',
  'waiter_corrected',
  'credit_approved',
  'credit_refused',
  'waiters_erased',
  'waiter_left',
  'referrals_refused',
  'webhook_created',
  'webhook_updated',
  'webhook_deleted',
  'webhook_secret_replaced',
  'webhook_tested',
  'webhook_turned_off',
  'deliveries_replayed',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** A stored event. */
export interface RecordedEvent extends AuditEventEntity {
  readonly uuids: readonly string[];
}

/** An audit event as the API and the log for collectors show it. */
export interface AuditRecord {
  readonly id: string;
  readonly created_at: string;
  readonly action: AuditAction;
  readonly user_id: string;
  readonly member: string | null;
  readonly waitlist_id: number | null;
  readonly uuids: readonly string[];
  readonly request_id: string | null;
  readonly address_hash: string | null;
}

export function auditRecord(event: RecordedEvent, accountUuid: string): AuditRecord {
  return {
    id: event.id,
    created_at: timestamp(event.createdAt),
    action: event.action as AuditAction,
    user_id: accountUuid,
    member: event.memberId,
    waitlist_id: event.waitlistId,
    uuids: event.uuids,
    request_id: event.requestId,
    address_hash: event.addressHash,
  };
}
