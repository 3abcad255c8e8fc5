import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { WaitlistNameService } from '../waitlist/waitlist-name.service.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { OfNamedWaitlist } from './public-queries.js';
import { NamedWaitlistViewDto, ViewWaitlistDto } from './waitlist-view.dto.js';

@ApiTags('Second generation')
@Public()
@Controller('api/v1/waitlist')
export class WaitlistViewController {
  constructor(
    private readonly names: WaitlistNameService,
    private readonly waitlists: WaitlistService,
  ) {}

  @Get()
  @OfNamedWaitlist()
  @RateLimited('public')
  @ApiOperation({
    summary: 'View a waitlist',
    description:
      "Returns the fields that a signup page needs, as `GET /api/v1/waitlist/{waitlist_id}` does without a token. An Authorization header is ignored. A query without `waitlist_id` and `api_key` is the owner's List my waitlists instead.",
  })
  @ApiOkResponse({ description: 'The public view.', type: NamedWaitlistViewDto })
  @ApiProblems('WAITLIST_NOT_FOUND')
  async viewWaitlist(@Query() query: ViewWaitlistDto): Promise<NamedWaitlistViewDto> {
    const waitlist = await this.waitlists.getPublic(await this.names.idOf(query));
    return NamedWaitlistViewDto.fromPublic(waitlist, this.waitlists.sendsMail);
  }
}
