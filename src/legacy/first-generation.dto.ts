import { ApiProperty, PickType } from '@nestjs/swagger';
import { Email } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, EMAIL_SCHEMA, UUID_SCHEMA } from '../platform/contract/formats.js';
import { RecordDto } from '../queue/record/record.dto.js';
import { type Found, isLetIn } from '../queue/record/waiter.js';
import { CreateSignupDto, SignupDto } from '../signup/signup.dto.js';
import type { SignupRequest, Sought } from '../signup/signup.service.js';
import { WaitlistNameField } from '../waitlist/waitlist-name.js';
import { ACTIVE } from './second-generation.dto.js';

const WAITLIST_ID = { isHidden: true, optional: true, nullable: true } as const;
const API_KEY = {
  unlessIn: 'waitlist_id',
  description:
    'The public key of the waitlist, or its id. Also accepted as `waitlist_id`; beside it, `api_key` is not read.',
  example: 1,
} as const;

/** The fields of a signup that the first generation knows. */
export class SubmitUserDto extends PickType(CreateSignupDto, [
  'email',
  'phone',
  'first_name',
  'last_name',
  'referral_link',
  'form_opened_at',
  'website',
  'captcha_token',
  'cf-turnstile-response',
  'h-captcha-response',
]) {
  @WaitlistNameField(WAITLIST_ID)
  waitlist_id?: number | string;

  @WaitlistNameField(API_KEY)
  api_key!: number | string;

  static toRequest(body: SubmitUserDto): SignupRequest {
    return CreateSignupDto.toRequest(body);
  }
}

export class GetUserStatusDto {
  @WaitlistNameField(WAITLIST_ID)
  waitlist_id?: number | string;

  @WaitlistNameField(API_KEY)
  api_key!: number | string;

  @Email({ description: 'The email to look up.' })
  email!: string;

  static toSought({ email }: GetUserStatusDto): Sought {
    return { email, phone: null, uuid: null };
  }
}

/** A Signup with the names of the first generation. */
export class UserDto extends PickType(RecordDto, ['referral_link']) {
  @ApiProperty({
    ...EMAIL_SCHEMA,
    nullable: true,
    description: "The record's email if the request had it, otherwise null.",
  })
  registered_email!: string | null;

  @ApiProperty({
    ...COUNT_SCHEMA,
    nullable: true,
    description:
      'Number of active records ahead; null for a record whose turn has come. One that has an offer, or that declined it or let it expire, keeps its last number.',
    example: 0,
  })
  current_priority!: number | null;

  @ApiProperty(ACTIVE)
  total_users!: number | null;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of records that this one referred.', example: 0 })
  total_referrals!: number;

  @ApiProperty({ ...UUID_SCHEMA, description: 'The `uuid` of the record.' })
  user_id!: string;

  static from(found: Found): UserDto {
    const { email, priority, amount_referred, referral_link, uuid } = SignupDto.from(found);
    const { hidesCounts, active } = found.waitlist;
    return {
      registered_email: email ?? null,
      // Existing apps read null as “let in”.
      current_priority: isLetIn(found.waiter) ? null : priority,
      total_users: hidesCounts ? null : active,
      total_referrals: amount_referred,
      referral_link,
      user_id: uuid,
    };
  }
}
