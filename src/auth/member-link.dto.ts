import { ApiProperty } from '@nestjs/swagger';
import { type Role, ROLES } from '../account/member.entity.js';
import type { Acceptance, Invitation } from '../account/member-link.service.js';
import { AnyText, Email, PersonName } from '../platform/contract/fields.js';
import { EMAIL_SCHEMA, openEnum } from '../platform/contract/formats.js';
import { NEW_PASSWORD } from './auth.dto.js';
import { givenName } from './given-name.js';

const TOKEN = {
  description: 'What follows `#` in the link.',
  minLength: 1,
  maxLength: 128,
  example: 'Zm9yZ2V0IG1lIG5vdCwgSSBhbSBhIHRva2VuIHRvbw',
} as const;

export class ViewInvitationDto {
  @AnyText(TOKEN)
  token!: string;
}

export class InvitationDto {
  @ApiProperty({ ...EMAIL_SCHEMA, description: 'The email with which the member will log in.' })
  email!: string;

  @ApiProperty(openEnum(ROLES))
  role!: Role;

  @ApiProperty({ type: String, nullable: true, maxLength: 100, example: 'Lumen', description: 'Null until it is set.' })
  account_name!: string | null;

  @ApiProperty({
    format: 'date-time',
    maxLength: 24,
    description: 'When the link ends, ISO 8601 in UTC.',
    example: '2026-12-04T09:30:00.000Z',
  })
  expires_at!: string;

  static from({ member: { email, role }, accountName, expiresAt }: Invitation): InvitationDto {
    return { email, role, account_name: accountName, expires_at: expiresAt.toISOString() };
  }
}

export class AcceptInvitationDto {
  @AnyText(TOKEN)
  token!: string;

  @AnyText(NEW_PASSWORD)
  password!: string;

  @PersonName({
    optional: true,
    nullable: true,
    example: 'Ada Lovelace',
    description: 'Your name. Without it, the one that the invitation came with stays; null or blank text removes that.',
  })
  name?: string | null;

  static toAcceptance({ password, name }: AcceptInvitationDto): Acceptance {
    return { password, name: givenName(name) };
  }
}

export class ForgottenPasswordDto {
  @Email({ description: 'Your email.' })
  email!: string;
}

export class ResetPasswordDto {
  @AnyText(TOKEN)
  token!: string;

  @AnyText(NEW_PASSWORD)
  new_password!: string;
}
