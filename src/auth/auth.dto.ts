import { ApiProperty } from '@nestjs/swagger';
import { AnyText } from '../platform/contract/fields.js';
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../platform/contract/password-rule.js';
import type { TokenPair } from './token.service.js';

const PASSWORD = {
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  format: 'password',
  example: '8dLr2uXv+QeWk1pT0zYbJm4sNc6gHa…',
} as const;
export const CURRENT_PASSWORD = {
  ...PASSWORD,
  example: 'the one before 4711',
  description: 'The password that you have.',
} as const;
export const NEW_PASSWORD = {
  description:
    'The password that you get. A common password, a few words, a repetition, a row of keys, or a password made from the email is refused.',
  minLength: PASSWORD_LENGTH_MIN,
  maxLength: PASSWORD_LENGTH_MAX,
  format: 'password',
  example: 'brisk otter plum canyon fizz',
} as const;
export const ACCESS_TOKEN = {
  description: 'Bearer token for the operations of an account.',
  maxLength: 2048,
  example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI…',
} as const;

export const OTP = {
  minLength: 1,
  maxLength: 64,
  example: '492039',
  description:
    'The code of your second factor: six digits that the authenticator app shows, or a recovery code. Each counts once.',
} as const;

export class CreateTokensDto {
  @AnyText({ minLength: 1, maxLength: 254, description: 'Your email.', example: 'owner@example.com' })
  email!: string;

  @AnyText({
    ...PASSWORD,
    description: 'Your password. The first start prints that of the first owner to the terminal.',
  })
  password!: string;

  @AnyText({ ...OTP, optional: true, description: `${OTP.description} Needed where you have set one up.` })
  otp?: string;
}

export class TokenPairDto {
  @ApiProperty(ACCESS_TOKEN)
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

export class ChangePasswordDto {
  @AnyText(CURRENT_PASSWORD)
  current_password!: string;

  @AnyText(NEW_PASSWORD)
  new_password!: string;
}
