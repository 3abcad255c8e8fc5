import { ApiProperty } from '@nestjs/swagger';
import { NestedList, OneOf } from '../platform/contract/fields.js';
import { COUNT_SCHEMA } from '../platform/contract/formats.js';
import { RECORDS_PER_CALL_MAX } from './bounds.js';
import { SignupUuidDto } from './named-signups.dto.js';

export class DecideReferralsDto {
  @OneOf({ enum: ['credited', 'refused'], description: 'Approves or refuses the credit of the referrals.' })
  credit!: 'credited' | 'refused';

  @NestedList(SignupUuidDto, {
    minItems: 1,
    maxItems: RECORDS_PER_CALL_MAX,
    description: 'The Waiters who were referred, by `uuid`. Those of other waitlists are ignored.',
  })
  signups!: SignupUuidDto[];
}

export class DecidedReferralsDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of Waiters whose credit this request changed.', example: 30 })
  changed!: number;
}
