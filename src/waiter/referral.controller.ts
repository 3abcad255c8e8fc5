import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OwnerOnly } from '../auth/access.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/token.service.js';
import { IdParam } from '../platform/contract/fields.js';
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { RefusedReferralsDto, RefuseReferralsDto } from './refuse-referrals.dto.js';
import { WaiterService } from './waiter.service.js';

@ApiTags('Waiter')
@OwnerOnly()
@Controller('api/v1/waitlist')
export class ReferralController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly waiters: WaiterService,
  ) {}

  @Post(':waitlist_id/refuse_referrals')
  @Repeatable()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Refuse all referrals of a Waiter',
    description:
      'Refuses the credit of everybody whom this Waiter referred, whatever their status, erased people included, and the referrals that an import counted for it. The Waiter moves back by what they earned it. Later referrals are judged as any other. A single referral is refused by `PATCH /api/v1/signup/{uuid}`.',
  })
  @ApiOkResponse({ description: 'The number of referrals that changed.', type: RefusedReferralsDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async refuseReferrals(
    @CurrentCaller() { account }: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Write() write: OwnerWrite,
    @Body() body: RefuseReferralsDto,
  ): Promise<RefusedReferralsDto> {
    await this.waitlists.get(account.id, id);
    return this.waiters.refuseReferrals(id, body.referral_token, write);
  }
}
