import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, MemberOrPublic } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { IdParam } from '../platform/contract/fields.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { StatisticsService } from './statistics.service.js';
import { WaitlistDto, WaitlistViewDto } from './waitlist.dto.js';
import { WaitlistService } from './waitlist.service.js';

/** The operation on waitlists that signup pages call without a token. */
@ApiTags('Waitlist')
@MemberOrPublic()
@Controller('api/v1/waitlist')
export class PublicWaitlistController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly statistics: StatisticsService,
  ) {}

  @Get(':waitlist_id')
  @RateLimited('public')
  @ApiOperation({
    summary: 'Get a waitlist',
    description:
      'Returns the whole waitlist if the request has the access token of a member of its account, or an account key. Without one, it returns the fields that a signup page needs, or 404 if `is_public` is false. The token of another account gets 404.',
  })
  @ApiOkResponse({
    description: 'The waitlist. Only its account gets the optional fields, except for `now` and `sends_mail`.',
    type: WaitlistViewDto,
  })
  @ApiProblems('INVALID_TOKEN', 'WAITLIST_NOT_FOUND')
  async getWaitlist(
    @CurrentCaller() caller: Caller | null,
    @IdParam('waitlist_id', 1) id: number,
  ): Promise<WaitlistViewDto> {
    return caller
      ? WaitlistDto.from(await this.waitlists.getWorded(caller, id), await this.statistics.countWaiting(id))
      : WaitlistViewDto.fromPublic(await this.waitlists.getPublic(id), this.waitlists.sendsMail);
  }
}
