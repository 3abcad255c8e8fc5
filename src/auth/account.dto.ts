import { ApiProperty } from '@nestjs/swagger';
import type { Account, AccountChanges } from '../account/account.service.js';
import { Flag, PersonName } from '../platform/contract/fields.js';
import { timestamp, TIMESTAMP_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import { givenName } from './given-name.js';

const NAME = { maxLength: 100, nullable: true, example: 'Ada & Co.' } as const;

@KnownFieldsOnly('id', 'created_at')
export class UpdateAccountDto {
  @PersonName({ ...NAME, optional: true, description: 'A name for the account; null or blank text removes it.' })
  name?: string | null;

  @Flag({
    optional: true,
    example: false,
    description:
      'Whether members who log in by a password need a second factor. Those without one, you too, can then only set one up, from the next request on.',
  })
  require_two_factor?: boolean;

  static toChanges({ name, require_two_factor }: UpdateAccountDto): AccountChanges {
    return { name: givenName(name), requireTwoFactor: require_two_factor };
  }
}

export class AccountDto {
  @ApiProperty({ ...UUID_SCHEMA, description: 'Identifies the account; elsewhere `user_id`.' })
  id!: string;

  @ApiProperty({ ...NAME, type: String, description: 'Its name; null until it has one.' })
  name!: string | null;

  @ApiProperty({ description: 'Whether members who log in by a password need a second factor.', example: false })
  require_two_factor!: boolean;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  static from({ uuid, name, requireTwoFactor, createdAt }: Account): AccountDto {
    return { id: uuid, name, require_two_factor: requireTwoFactor, created_at: timestamp(createdAt) };
  }
}
