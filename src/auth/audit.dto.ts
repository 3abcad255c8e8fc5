import { ApiProperty } from '@nestjs/swagger';
import { Id, Uuid, WholeNumber } from '../platform/contract/fields.js';
import { ID_SCHEMA, openEnum, TIMESTAMP_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { type AuditFilter, SUBJECTS_MAX } from '../platform/audit/audit-log.js';
import { AUDIT_ACTIONS, type AuditAction, auditRecord, type RecordedEvent } from '../platform/audit/audit-record.js';

/** One offboarding names up to 1,000 people, so a page names up to 50,000. */
export const PAGE_SIZE_MAX = 50;

export class ListAuditEventsDto {
  @Id({ optional: true, lenient: true, description: 'Lists only the events of this waitlist.' })
  waitlist_id?: number;

  @Uuid({ optional: true, description: 'Lists only the events that name the person or member with this `uuid`.' })
  uuid?: string;

  @Uuid({ optional: true, description: 'Lists only what the member with this `id` did.' })
  member?: string;

  @Uuid({ optional: true, description: 'Lists the events older than the one with this `id`.' })
  after_id?: string;

  @WholeNumber({ default: PAGE_SIZE_MAX, minimum: 1, maximum: PAGE_SIZE_MAX, lenient: true, description: 'Page size.' })
  limit = PAGE_SIZE_MAX;

  static toFilter({ waitlist_id, uuid, member, after_id, limit }: ListAuditEventsDto): AuditFilter {
    const [subject, memberId, afterId] = [uuid, member, after_id].map((id) => id?.toLowerCase());
    return { waitlistId: waitlist_id, uuid: subject, memberId, afterId, limit };
  }
}

export class AuditEventDto {
  @ApiProperty({ ...UUID_SCHEMA, description: 'Identifies the event.' })
  id!: string;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiProperty({ ...openEnum(AUDIT_ACTIONS), description: 'The kind of event.' })
  action!: AuditAction;

  @ApiProperty({ ...UUID_SCHEMA, description: 'The account that the event belongs to.' })
  user_id!: string;

  @ApiProperty({
    ...UUID_SCHEMA,
    type: String,
    nullable: true,
    description:
      'The member who did it or, of a failed login and a forgotten password, whose email was given. Null for an account key, a command of the operator, and the service itself.',
  })
  member!: string | null;

  @ApiProperty({ ...ID_SCHEMA, nullable: true, description: 'The waitlist, or null for an event of the account.' })
  waitlist_id!: number | null;

  @ApiProperty({
    type: 'array',
    maxItems: SUBJECTS_MAX,
    items: { type: 'string', ...UUID_SCHEMA },
    description:
      'The `uuid`s of the Waiters, or the `id` of the member, that the action changed, erased or removed; empty if it names none.',
  })
  uuids!: readonly string[];

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 64,
    description: 'The id of the request, or null for a command of the operator.',
    example: UUID_SCHEMA.example,
  })
  request_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 43,
    description: 'A keyed hash of the network address: two events from one address have the same hash.',
    example: 'Zk3u9mJt0s1a2Qv8yW4x5B6c7D8e9F0g1H2i3J4k5L6',
  })
  address_hash!: string | null;

  static from(event: RecordedEvent, accountUuid: string): AuditEventDto {
    return auditRecord(event, accountUuid);
  }
}
