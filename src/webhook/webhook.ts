import { randomBytes } from 'node:crypto';
import type { WebhookEntity } from '../outbox/webhook.entity.js';

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** The ids of a webhook and of its waitlist. */
export interface WebhookRef {
  readonly waitlistId: number;
  readonly id: number;
}

export type NewWebhook = Pick<WebhookEntity, 'url' | 'events' | 'isActive'>;
export type WebhookChanges = Partial<NewWebhook>;

/** All deliveries since a time, or those with these ids. */
export type ReplaySelection = { readonly since: Date } | { readonly ids: readonly string[] };

/** A random secret in the form of Standard Webhooks. */
export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
