import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { IdParam } from '../platform/contract/fields.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { GetStatisticsDto, PreviewReorderDto, ReorderPreviewDto, WaitlistStatisticsDto } from './statistics.dto.js';
import { StatisticsService } from './statistics.service.js';

@ApiTags('Waitlist')
@Controller('api/v1/waitlist')
export class StatisticsController {
  constructor(private readonly statistics: StatisticsService) {}

  @Get(':waitlist_id/statistics')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({
    summary: 'Get the statistics of a waitlist',
    description:
      'Counts signups, referred ones among them, offboardings, erasures, offers and what became of them, and page views for each day (UTC) of a span of at most 366 days; by default the last 30. It also lists the records with the most referrals. The answer takes the same time for waitlists of any size.',
  })
  @ApiOkResponse({ description: 'The counts of each day, and the top referrers.', type: WaitlistStatisticsDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND')
  async getStatistics(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Query() query: GetStatisticsDto,
  ): Promise<WaitlistStatisticsDto> {
    return WaitlistStatisticsDto.from(await this.statistics.get(caller, id, GetStatisticsDto.toSpan(query)));
  }

  @Get(':waitlist_id/reorder')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({
    summary: 'Preview a change of the spots per referral',
    description:
      'Returns how many active records the change of `spots_to_move_upon_referral` would reorder now. It changes nothing.',
  })
  @ApiOkResponse({ description: 'The effect of the change.', type: ReorderPreviewDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND')
  async previewReorder(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Query() { spots_to_move_upon_referral: spots }: PreviewReorderDto,
  ): Promise<ReorderPreviewDto> {
    return { records_moved: await this.statistics.previewReorder(caller, id, spots) };
  }
}
