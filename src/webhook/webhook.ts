import { randomBytes } from 'node:crypto';
import type { WebhookEntity } from '../outbox/webhook.entity.js';

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** A webhook of a waitlist. */
export interface WebhookName {
  readonly waitlistId: number;
  readonly id: number;
}

export type NewWebhook = Pick<WebhookEntity, 'url' | 'events' | 'isActive'>;
export type WebhookChanges = Partial<NewWebhook>;

/** All deliveries from a moment on, or those with these ids. */
export type ReplaySelection = { readonly since: Date } | { readonly ids: readonly string[] };

export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
