import { ApiProperty } from '@nestjs/swagger';
import {
  MEMBER_STATUSES,
  type MemberStatus,
  type Role,
  ROLES,
  SIGN_INS,
  type SignIn,
  statusOf,
} from '../account/member.entity.js';
import type { Invited, Invitee, StartedReset } from '../account/member-link.service.js';
import type { Member, MemberChanges } from '../account/member.service.js';
import { Email, Flag, OneOf, PersonName, Uuid, WholeNumber } from '../platform/contract/fields.js';
import { EMAIL_SCHEMA, openEnum, timestamp, TIMESTAMP_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import type { PageAfter } from '../platform/page.js';
import { givenName } from './given-name.js';

export const PAGE_SIZE_MAX = 100;

const NAME = { maxLength: 100, nullable: true, example: 'Ada Lovelace' } as const;
const ROLE = {
  description: '`viewer` reads, `editor` also works with waitlists and their people, `owner` may do everything.',
  example: 'editor',
} as const;
/** The fields of a response that cannot be set. */
const SENT_BACK = ['id', 'email', 'status', 'two_factor', 'sign_in', 'created_at', 'last_login_at'] as const;

export class ListMembersDto {
  @WholeNumber({ default: PAGE_SIZE_MAX, minimum: 1, maximum: PAGE_SIZE_MAX, lenient: true, description: 'Page size.' })
  limit = PAGE_SIZE_MAX;

  @Uuid({ optional: true, description: 'Lists the members after the one with this `id`.' })
  after_id?: string;

  static toPage({ limit, after_id }: ListMembersDto): PageAfter<string> {
    return { limit, afterId: after_id?.toLowerCase() ?? null };
  }
}

@KnownFieldsOnly(...SENT_BACK, 'role')
export class UpdateOwnMemberDto {
  @PersonName({ ...NAME, optional: true, description: 'Your name; null or blank text removes it.' })
  name?: string | null;

  static toChanges({ name }: UpdateOwnMemberDto): MemberChanges {
    return { name: givenName(name) };
  }
}

@KnownFieldsOnly(...SENT_BACK)
export class UpdateMemberDto {
  @OneOf({ ...ROLE, optional: true, enum: ROLES, enumName: 'Role' })
  role?: Role;

  @PersonName({ ...NAME, optional: true, description: 'The name; null or blank text removes it.' })
  name?: string | null;

  @Flag({
    optional: true,
    description:
      'False disables the member and ends the logins; true enables a disabled member again, who then logs in anew.',
  })
  is_active?: boolean;

  static toChanges({ role, name, is_active }: UpdateMemberDto): MemberChanges {
    return { role, name: givenName(name), isActive: is_active };
  }
}

@KnownFieldsOnly(...SENT_BACK)
export class InviteMemberDto {
  @Email({ description: 'Where the invitation goes. No other member of the service may have it.' })
  email!: string;

  @OneOf({ ...ROLE, enum: ROLES, enumName: 'Role' })
  role!: Role;

  @PersonName({ ...NAME, optional: true, description: 'The name, which the member can change.' })
  name?: string | null;

  static toInvitee({ email, role, name }: InviteMemberDto): Invitee {
    return { email, role, name: givenName(name) ?? null };
  }
}

export class MemberDto {
  @ApiProperty({ ...UUID_SCHEMA, description: 'Identifies the member.' })
  id!: string;

  @ApiProperty({ ...EMAIL_SCHEMA, description: 'The email, which no other member of the service has.' })
  email!: string;

  @ApiProperty({ ...NAME, type: String, description: 'The name; null until it is set.' })
  name!: string | null;

  @ApiProperty({ ...ROLE, ...openEnum(ROLES) })
  role!: Role;

  @ApiProperty({
    ...openEnum(MEMBER_STATUSES),
    description: 'Only an active member can log in. One who is `invited` has not accepted the invitation.',
  })
  status!: MemberStatus;

  @ApiProperty({ description: 'Whether a login by password needs a second factor.', example: false })
  two_factor!: boolean;

  @ApiProperty({
    type: 'array',
    maxItems: SIGN_INS.length,
    items: { ...openEnum(SIGN_INS) },
    description: 'The ways in which the member can log in.',
    example: ['password'],
  })
  sign_in!: readonly SignIn[];

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiProperty({
    ...TIMESTAMP_SCHEMA,
    type: String,
    nullable: true,
    description: 'UTC, `YYYY-MM-DD_HH-MM-SS`; null if the member never logged in.',
  })
  last_login_at!: string | null;

  static from(member: Member, signIns: readonly SignIn[]): MemberDto {
    const { id, email, name, role, hasTwoFactor, createdAt, lastLoginAt } = member;
    return {
      id,
      email,
      name,
      role,
      status: statusOf(member),
      two_factor: hasTwoFactor,
      sign_in: signIns,
      created_at: timestamp(createdAt),
      last_login_at: lastLoginAt && timestamp(lastLoginAt),
    };
  }
}

const MAILED = {
  description:
    'Whether the link is mailed: not without `SMTP_URL`, nor beyond 5 such mails a day to one mailbox or 50 a day of one account.',
} as const;

export class InvitedMemberDto extends MemberDto {
  @ApiProperty({
    description: 'The link by which the member joins, once, for 7 days. It is shown this once.',
    maxLength: 2048,
    example: 'https://waitlist.example.com/desk/invitation#Zm9yZ2V0IG1lIG5vdCwgSSBhbSBhIHRva2Vu…',
  })
  invitation_url!: string;

  @ApiProperty(MAILED)
  mailed!: boolean;

  static fromInvited({ member, invitationUrl, isMailed }: Invited): InvitedMemberDto {
    // Nobody who is invited can log in yet.
    return { ...MemberDto.from(member, []), invitation_url: invitationUrl, mailed: isMailed };
  }
}

export class StartedResetDto {
  @ApiProperty(MAILED)
  mailed!: boolean;

  @ApiProperty({
    required: false,
    description:
      'The link that sets a new password, once, for an hour. Only without `SMTP_URL`: otherwise it is mailed to the member and shown to nobody.',
    maxLength: 2048,
    example: 'https://waitlist.example.com/desk/reset#Zm9yZ2V0IG1lIG5vdCwgSSBhbSBhIHRva2Vu…',
  })
  reset_url?: string;

  static from({ isMailed, resetUrl }: StartedReset): StartedResetDto {
    return { mailed: isMailed, ...(resetUrl !== null && { reset_url: resetUrl }) };
  }
}
