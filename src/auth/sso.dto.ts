import { ApiProperty } from '@nestjs/swagger';
import type { Config } from '../platform/config/config.js';
import { Text } from '../platform/contract/fields.js';

export class StartSingleSignOnDto {
  @Text({
    optional: true,
    maxLength: 100,
    description: 'The token of an address that `POST /api/v1/auth/sso/link` gave.',
  })
  link?: string;
}

export class SsoLinkDto {
  @ApiProperty({
    maxLength: 2048,
    description: 'Where the browser goes next. It works once, within ten minutes, while the login lives.',
    example: 'https://waitlist.example.com/api/v1/auth/sso?link=0199f2a4-5b6c-7def-8a90-123456789abc.kW1…',
  })
  url!: string;

  static from(url: string): SsoLinkDto {
    return { url };
  }
}

class SsoMethodDto {
  @ApiProperty({ maxLength: 255, description: 'What a button says after "Sign in with".', example: 'Example Inc.' })
  name!: string;
}

export class SignInMethodsDto {
  @ApiProperty({ description: 'Whether members log in with a password.', example: true })
  password!: boolean;

  @ApiProperty({
    description: 'Whether somebody who forgot the password can get a mail to set another.',
    example: true,
  })
  password_reset!: boolean;

  @ApiProperty({ type: SsoMethodDto, nullable: true, description: 'Single sign-on; null without it.' })
  sso!: SsoMethodDto | null;

  static from({ passwordLogin, mail, sso }: Config): SignInMethodsDto {
    return {
      password: passwordLogin,
      password_reset: passwordLogin && mail !== null,
      sso: sso && { name: sso.name },
    };
  }
}
