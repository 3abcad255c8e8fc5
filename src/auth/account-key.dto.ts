import { ApiProperty } from '@nestjs/swagger';
import { FutureTime, IdList, OneOf, Text } from '../platform/contract/fields.js';
import { ID_SCHEMA, openEnum, timestamp, TIMESTAMP_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import { KEY_SCOPES, type KeyScope } from '../account/account-key.entity.js';
import type { AccountKey, CreatedAccountKey, NewAccountKey } from '../account/account-key.service.js';

const NAME = { maxLength: 100, description: 'A label for the key.', example: 'Monthly report' } as const;
const SCOPE = {
  description: '`read` opens the operations that only read, `manage` also those that write.',
  example: 'read',
} as const;
/** The fields of a response that cannot be set. */
const SENT_BACK = ['id', 'prefix', 'created_by', 'created_at', 'last_used_at', 'key'] as const;
export const KEY_WAITLISTS_MAX = 100;

@KnownFieldsOnly(...SENT_BACK)
export class CreateAccountKeyDto {
  @Text({ ...NAME, minLength: 1 })
  name!: string;

  @OneOf({ ...SCOPE, enum: KEY_SCOPES, enumName: 'KeyScope' })
  scope!: KeyScope;

  @FutureTime({
    optional: true,
    nullable: true,
    description: 'When the key expires: ISO 8601, in the future. It never does without this field.',
    example: null,
  })
  expires_at?: string | null;

  @IdList({
    optional: true,
    nullable: true,
    minItems: 1,
    maxItems: KEY_WAITLISTS_MAX,
    description: 'The waitlists of the account that the key opens. It opens all of them without this field.',
    example: null,
  })
  waitlist_ids?: readonly number[] | null;

  static toSettings({ name, scope, expires_at, waitlist_ids }: CreateAccountKeyDto): NewAccountKey {
    return { name, scope, expiresAt: expires_at ? new Date(expires_at) : null, waitlistIds: waitlist_ids ?? null };
  }
}

export class AccountKeyDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'Identifies the key.', example: 1 })
  id!: number;

  @ApiProperty(NAME)
  name!: string;

  @ApiProperty({ ...SCOPE, ...openEnum(KEY_SCOPES) })
  scope!: KeyScope;

  @ApiProperty({ maxLength: 6, description: 'The first six characters of the key.', example: '0b1d2c' })
  prefix!: string;

  @ApiProperty({
    type: 'array',
    nullable: true,
    maxItems: KEY_WAITLISTS_MAX,
    items: ID_SCHEMA,
    description: 'The waitlists that the key opens, without those deleted since; null for all of the account.',
    example: null,
  })
  waitlist_ids!: readonly number[] | null;

  @ApiProperty({
    ...UUID_SCHEMA,
    type: String,
    nullable: true,
    description: 'The `id` of the member who made it, who may be removed by now; null if it was made otherwise.',
  })
  created_by!: string | null;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    maxLength: 24,
    nullable: true,
    description: 'When the key expires, ISO 8601 in UTC; null if it never does. An expired key stays in the list.',
    example: '2027-01-31T00:00:00.000Z',
  })
  expires_at!: string | null;

  @ApiProperty({
    ...TIMESTAMP_SCHEMA,
    type: String,
    nullable: true,
    description: 'UTC, `YYYY-MM-DD_HH-MM-SS`, right to the minute; null if the key was never used.',
  })
  last_used_at!: string | null;

  static from(key: AccountKey): AccountKeyDto {
    const { id, name, scope, prefix, waitlistIds, createdBy, createdAt, expiresAt, lastUsedAt } = key;
    return {
      id,
      name,
      scope,
      prefix,
      waitlist_ids: waitlistIds,
      created_by: createdBy,
      created_at: timestamp(createdAt),
      expires_at: expiresAt?.toISOString() ?? null,
      last_used_at: lastUsedAt && timestamp(lastUsedAt),
    };
  }
}

export class CreatedAccountKeyDto extends AccountKeyDto {
  @ApiProperty({
    maxLength: 64,
    description: 'The key itself. Shown only once; the service stores a hash of it.',
    example: '0b1d2c…',
  })
  key!: string;

  static withSecret({ accountKey, secret }: CreatedAccountKey): CreatedAccountKeyDto {
    return { ...AccountKeyDto.from(accountKey), key: secret };
  }
}
