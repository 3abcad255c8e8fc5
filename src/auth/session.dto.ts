import { ApiProperty } from '@nestjs/swagger';
import { timestamp, TIMESTAMP_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { ACCESS_TOKEN } from './auth.dto.js';
import type { LoginEntity } from './login.entity.js';
import type { TokenPair } from './token.service.js';

export class AccessTokenDto {
  @ApiProperty(ACCESS_TOKEN)
  access_token!: string;

  static from({ accessToken }: TokenPair): AccessTokenDto {
    return { access_token: accessToken };
  }
}

export class SessionDto {
  @ApiProperty({ ...UUID_SCHEMA, description: 'Identifies the login.' })
  id!: string;

  @ApiProperty({ ...TIMESTAMP_SCHEMA, description: 'When it was made: UTC, `YYYY-MM-DD_HH-MM-SS`.' })
  created_at!: string;

  @ApiProperty({ ...TIMESTAMP_SCHEMA, description: 'When its tokens were last refreshed: UTC, `YYYY-MM-DD_HH-MM-SS`.' })
  last_used_at!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 100,
    description: 'The browser and the system that it was made with; null where they are unknown.',
    example: 'Firefox on macOS',
  })
  client!: string | null;

  @ApiProperty({ description: 'Whether it is the login of the access token that was sent.' })
  current!: boolean;

  static from({ id, createdAt, lastUsedAt, client }: LoginEntity, currentId: string): SessionDto {
    return {
      id,
      created_at: timestamp(createdAt),
      last_used_at: timestamp(lastUsedAt),
      client,
      current: id === currentId,
    };
  }
}
