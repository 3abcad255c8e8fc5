import { ApiProperty } from '@nestjs/swagger';
import { AnyText } from '../platform/contract/fields.js';
import type { TokenPair } from './token.service.js';

export class CreateTokensDto {
  @AnyText({ minLength: 1, maxLength: 254, description: 'The email of the account.', example: 'owner@example.com' })
  email!: string;

  @AnyText({
    description: 'The password of the account. The first start prints it to the terminal.',
    minLength: 1,
    maxLength: 256,
    format: 'password',
    example: '8dLr2uXv+QeWk1pT0zYbJm4sNc6gHa…',
  })
  password!: string;
}

export class TokenPairDto {
  @ApiProperty({
    description: 'Bearer token for the owner operations.',
    maxLength: 2048,
    example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI…',
  })
  access_token!: string;

  @ApiProperty({
    description: 'Bearer token that can be exchanged once for a new pair.',
    maxLength: 2048,
    example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6InJ0K2p3dCJ9.eyJzdWIiOiI…',
  })
  refresh_token!: string;

  static from({ accessToken, refreshToken }: TokenPair): TokenPairDto {
    return { access_token: accessToken, refresh_token: refreshToken };
  }
}
