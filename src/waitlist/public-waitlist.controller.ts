import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OwnerOrPublic } from '../auth/access.js';
import type { Caller } from '../auth/token.service.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { IdParam } from '../platform/contract/fields.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { PublicWaitlistDto, WaitlistDto, WaitlistViewDto } from './waitlist.dto.js';
import { WaitlistService } from './waitlist.service.js';

/** The one operation on waitlists that pages call without a token. */
@ApiTags('Waitlist')
@OwnerOrPublic()
@Controller('api/v1/waitlist')
export class PublicWaitlistController {
  constructor(private readonly waitlists: WaitlistService) {}

  @Get(':waitlist_id')
  @RateLimited('public')
  @ApiOperation({
    summary: 'Get a waitlist',
    description:
      'Without a token: what a page needs to draw its form. With the access token of its owner: all of it; with that of another owner: 404.',
  })
  @ApiOkResponse({
    description: 'The waitlist: for its owner whole, for anyone else without the fields that are not required.',
    type: WaitlistViewDto,
  })
  @ApiProblems('INVALID_TOKEN', 'WAITLIST_NOT_FOUND')
  async getWaitlist(
    @CurrentCaller() caller: Caller | null,
    @IdParam('waitlist_id', 1) id: number,
  ): Promise<WaitlistViewDto> {
    return caller
      ? WaitlistDto.from(await this.waitlists.get(caller.account.id, id))
      : PublicWaitlistDto.from(await this.waitlists.getPublic(id));
  }
}
