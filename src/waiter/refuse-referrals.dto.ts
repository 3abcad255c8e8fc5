import { ApiProperty } from '@nestjs/swagger';
import { Text } from '../platform/contract/fields.js';
import { COUNT_SCHEMA } from '../platform/contract/formats.js';
import { TOKEN_SCHEMA } from '../queue/record/referral-link.js';

export class RefuseReferralsDto {
  @Text({
    pattern: TOKEN_SCHEMA.pattern,
    maxLength: TOKEN_SCHEMA.maxLength,
    description: 'The token of the Waiter whose referrals are refused.',
    example: TOKEN_SCHEMA.example,
  })
  referral_token!: string;
}

export class RefusedReferralsDto {
  @ApiProperty({
    ...COUNT_SCHEMA,
    description:
      'Number of referrals whose credit this request refused, those of erased people and of an import included.',
    example: 3,
  })
  refused!: number;
}
