import { ApiProperty } from '@nestjs/swagger';
import { FutureTime, OneOf, Text } from '../platform/contract/fields.js';
import { ID_SCHEMA, openEnum, timestamp, TIMESTAMP_SCHEMA } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import { KEY_SCOPES, type KeyScope } from './account-key.entity.js';
import type { AccountKey, CreatedAccountKey, NewAccountKey } from './account-key.service.js';

const NAME = { maxLength: 100, description: 'A label for the key.', example: 'Monthly report' } as const;
const SCOPE = {
  description: '`read` opens the operations that only read, `manage` also those that write.',
  example: 'read',
} as const;
/** The fields of a response that cannot be set. */
const SENT_BACK = ['id', 'prefix', 'created_at', 'last_used_at', 'key'] as const;

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

  static toSettings({ name, scope, expires_at }: CreateAccountKeyDto): NewAccountKey {
    return { name, scope, expiresAt: expires_at ? new Date(expires_at) : null };
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

  static from({ id, name, scope, prefix, createdAt, expiresAt, lastUsedAt }: AccountKey): AccountKeyDto {
    return {
      id,
      name,
      scope,
      prefix,
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
