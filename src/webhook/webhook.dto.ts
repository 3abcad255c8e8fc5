import { ApiProperty } from '@nestjs/swagger';
import { type DeliveryEntity, type Failure, FAILURES } from '../outbox/delivery.entity.js';
import { type EventName, EVENTS } from '../outbox/webhook.entity.js';
import { Flag, HttpUrl, NotWith, OneOfList, TextList, Time, Uuid, WholeNumber } from '../platform/contract/fields.js';
import {
  COUNT_SCHEMA,
  ID_SCHEMA,
  openEnum,
  openEnumList,
  timestamp,
  TIMESTAMP_SCHEMA,
  UUID_PATTERN,
  UUID_SCHEMA,
} from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import type { PageAfter } from '../platform/page.js';
import type { NewWebhook, ReplaySelection, WebhookChanges } from './webhook.js';
import type { Webhook, WebhookWithSecret } from './webhook.service.js';

export const PAGE_SIZE_MAX = 100;
const PAGE_SIZE_DEFAULT = 50;
const REPLAY_IDS_MAX = 1_000;
const URL_FIELD = {
  maxLength: 2048,
  description:
    'The URL that events are posted to. It must be `https` and lead to public addresses only. The operator can allow other networks, by `http` too.',
  example: 'https://example.com/hooks/waitlist',
} as const;
const EVENTS_FIELD = {
  description:
    'The events that are sent; all of them if the list is empty. While the offer is open, `offered_signup` has `offer_url` in addition to `signup`.',
  example: ['new_signup', 'offboarded_signup'],
} as const;
const EVENT_WORDS = { maxItems: EVENTS.length, enum: EVENTS, enumName: 'WebhookEvent' } as const;
const IS_ACTIVE = { description: 'Whether events are sent. Events that happen while it is off are never sent.' };
/** Response fields that a client may send back; ignored. */
const SENT_BACK = ['id', 'created_at', 'secret', 'secret_available'] as const;

@KnownFieldsOnly(...SENT_BACK)
export class CreateWebhookDto {
  @HttpUrl(URL_FIELD)
  url!: string;

  @OneOfList({ ...EVENTS_FIELD, ...EVENT_WORDS, default: [] })
  events: EventName[] = [];

  @Flag({ ...IS_ACTIVE, default: true })
  is_active = true;

  static toSettings({ url, events, is_active: isActive }: CreateWebhookDto): NewWebhook {
    return { url, events, isActive };
  }
}

@KnownFieldsOnly(...SENT_BACK)
export class UpdateWebhookDto {
  @HttpUrl({ ...URL_FIELD, optional: true })
  url?: string;

  @OneOfList({ ...EVENTS_FIELD, ...EVENT_WORDS, optional: true })
  events?: EventName[];

  @Flag({ ...IS_ACTIVE, optional: true })
  is_active?: boolean;

  static toChanges({ url, events, is_active: isActive }: UpdateWebhookDto): WebhookChanges {
    return { url, events, isActive };
  }
}

export class WebhookDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'Identifies the webhook.', example: 1 })
  id!: number;

  @ApiProperty(URL_FIELD)
  url!: string;

  @ApiProperty({ ...EVENTS_FIELD, ...openEnumList(EVENTS) })
  events!: readonly EventName[];

  @ApiProperty({
    ...IS_ACTIVE,
    description: `${IS_ACTIVE.description} The service turns off a webhook that has failed for five days.`,
  })
  is_active!: boolean;

  @ApiProperty({
    description:
      'Whether this instance can decrypt the secret. If no instance can, deliveries wait until you replace the secret.',
  })
  secret_available!: boolean;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  static from({ id, url, events, isActive, secretAvailable, createdAt }: Webhook): WebhookDto {
    return {
      id,
      url,
      events,
      is_active: isActive,
      secret_available: secretAvailable,
      created_at: timestamp(createdAt),
    };
  }
}

export class WebhookWithSecretDto extends WebhookDto {
  @ApiProperty({
    maxLength: 100,
    pattern: '^whsec_[A-Za-z0-9+/]+=*$',
    description: 'The secret that signs the messages, as Standard Webhooks writes it. Shown only once.',
    example: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
  })
  secret!: string;

  static withSecret({ webhook, secret }: WebhookWithSecret): WebhookWithSecretDto {
    return { ...WebhookDto.from(webhook), secret };
  }
}

export class ListDeliveriesDto {
  @Uuid({ optional: true, description: 'Lists the deliveries older than the one with this `id`.' })
  after_id?: string;

  @WholeNumber({
    default: PAGE_SIZE_DEFAULT,
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    lenient: true,
    description: 'Page size.',
  })
  limit = PAGE_SIZE_DEFAULT;

  static toPage({ after_id, limit }: ListDeliveriesDto): PageAfter<string> {
    return { afterId: after_id?.toLowerCase() ?? null, limit };
  }
}

export class DeliveryDto {
  @ApiProperty({ ...UUID_SCHEMA, description: 'Identifies the delivery: the `webhook-id` of each attempt.' })
  id!: string;

  @ApiProperty({ ...openEnum([...EVENTS, 'test']), description: 'The kind of event.' })
  event!: DeliveryEntity['event'];

  @ApiProperty({
    ...UUID_SCHEMA,
    type: String,
    nullable: true,
    description: 'The `uuid` of the person whom the event is about; null for a test.',
  })
  signup_uuid!: string | null;

  @ApiProperty({
    ...openEnum(['pending', 'delivered', 'failed']),
    description:
      '`failed` after the last attempt of the schedule, about 28 hours after the first, or because the payload was deleted.',
  })
  status!: DeliveryEntity['status'];

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Attempts that have ended, those of replays included.', example: 1 })
  attempts!: number;

  @ApiProperty({
    type: 'integer',
    format: 'int32',
    minimum: 100,
    maximum: 999,
    nullable: true,
    description: 'The HTTP status of the last attempt; null without a response.',
    example: 200,
  })
  last_status!: number | null;

  @ApiProperty({
    ...openEnum(FAILURES),
    nullable: true,
    description: 'Why the last attempt had no response; null if it had one.',
    example: 'timeout',
  })
  last_failure!: Failure | null;

  @ApiProperty({
    ...TIMESTAMP_SCHEMA,
    type: String,
    nullable: true,
    description: 'UTC, `YYYY-MM-DD_HH-MM-SS`; null unless the delivery is pending.',
  })
  next_attempt_at!: string | null;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  static from(delivery: DeliveryEntity): DeliveryDto {
    const { id, event, waiterUuid, status, attempts, lastStatus, lastFailure, nextAttemptAt, createdAt } = delivery;
    return {
      id,
      event,
      signup_uuid: waiterUuid,
      status,
      attempts,
      last_status: lastStatus,
      last_failure: lastFailure,
      next_attempt_at: nextAttemptAt && timestamp(nextAttemptAt),
      created_at: timestamp(createdAt),
    };
  }
}

@KnownFieldsOnly()
export class ReplayDeliveriesDto {
  @Time({
    unless: ['delivery_ids'],
    description: 'Replays all deliveries since this time: ISO 8601 with a zone.',
    example: '2026-11-21T09:30:00Z',
  })
  since?: string;

  @NotWith('since')
  @TextList({
    optional: true,
    minItems: 1,
    maxItems: REPLAY_IDS_MAX,
    items: { maxLength: 36, pattern: UUID_PATTERN },
    description: 'Replays these deliveries; unknown ones are left out.',
  })
  delivery_ids?: string[];

  static toSelection({ since, delivery_ids: ids = [] }: ReplayDeliveriesDto): ReplaySelection {
    return since === undefined ? { ids: ids.map((id) => id.toLowerCase()) } : { since: new Date(since) };
  }
}

export class ReplayedDto {
  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'How many deliveries get another attempt. Those whose payload was deleted are left out.',
    example: 12,
  })
  replayed!: number;
}
