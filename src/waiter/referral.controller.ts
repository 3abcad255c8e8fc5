import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/caller.js';
import { IdParam } from '../platform/contract/fields.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { isLongCall, RECORDS_BODY_MAX_BYTES } from './bounds.js';
import { DecidedReferralsDto, DecideReferralsDto } from './decide-referrals.dto.js';
import { uuidsOf } from './named-signups.dto.js';
import { RefusedReferralsDto, RefuseReferralsDto } from './refuse-referrals.dto.js';
import { WaiterService } from './waiter.service.js';

@ApiTags('Waiter')
@Controller('api/v1/waitlist')
export class ReferralController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly waiters: WaiterService,
  ) {}

  @Post(':waitlist_id/refuse_referrals')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
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
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Write() write: AccountWrite,
    @Body() body: RefuseReferralsDto,
  ): Promise<RefusedReferralsDto> {
    await this.waitlists.get(caller, id);
    return this.waiters.refuseReferrals(id, body.referral_token, write);
  }

  @Post(':waitlist_id/decide_referrals')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(200)
  @RouteConfig({ bodyMaxBytes: RECORDS_BODY_MAX_BYTES, isLongWork: isLongCall })
  @ApiOperation({
    summary: 'Approve or refuse referrals',
    description:
      'Approves or refuses the credit of many Waiters, all of them or none, as `PATCH /api/v1/signup/{uuid}` does for one. Where people verify their emails, an approved credit counts once that is done. Unknown uuids, those of other waitlists, and Waiters whom nobody referred are ignored.',
  })
  @ApiOkResponse({ description: 'The number of Waiters whose credit changed.', type: DecidedReferralsDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async decideReferrals(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Write() write: AccountWrite,
    @Body() body: DecideReferralsDto,
  ): Promise<DecidedReferralsDto> {
    await this.waitlists.get(caller, id);
    return { changed: await this.waiters.decideReferrals(id, uuidsOf(body), body.credit, write) };
  }
}
