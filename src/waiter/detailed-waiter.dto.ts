import { ApiProperty } from '@nestjs/swagger';
import { COUNT_SCHEMA } from '../platform/contract/formats.js';
import { answersOf } from '../queue/record/given-answers.js';
import { TOKEN_SCHEMA } from '../queue/record/referral-link.js';
import type { Waiter } from '../queue/record/waiter.js';
import { QUESTIONS_MAX } from '../queue/settings/questions.js';
import { OwnerAnswerDto, WaiterDto, type WaiterView } from './waiter.dto.js';

/** A Waiter with the answers to all questions, as the operations under `/signup` show it. */
export class DetailedWaiterDto extends WaiterDto {
  @ApiProperty({ ...TOKEN_SCHEMA, nullable: true, description: 'The same as `referred_by_waiter_token`.' })
  referred_by_signup_token!: string | null;

  @ApiProperty({
    type: [OwnerAnswerDto],
    required: true,
    maxItems: QUESTIONS_MAX,
    description: 'Each question with the answer to it, then the removed questions that the Waiter answered.',
  })
  declare answers: OwnerAnswerDto[];

  @ApiProperty({
    ...COUNT_SCHEMA,
    nullable: true,
    description:
      'Number of records that joined before, erased ones included; 0 is the first. Null while it is pending.',
    example: 0,
  })
  join_order!: number | null;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Positions that the owner granted, in all.', example: 0 })
  spots_advanced!: number;

  static override from(waiter: Waiter, view: WaiterView): DetailedWaiterDto {
    return Object.assign(WaiterDto.from(waiter, view), {
      referred_by_signup_token: waiter.referredByToken,
      answers: answersOf(waiter, view.waitlist),
      join_order: waiter.status === 'pending' ? null : waiter.seq,
      spots_advanced: waiter.spotsAdvanced,
    } satisfies Omit<DetailedWaiterDto, keyof WaiterDto> & Pick<DetailedWaiterDto, 'answers'>);
  }
}
