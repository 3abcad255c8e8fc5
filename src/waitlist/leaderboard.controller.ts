import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { IdParam } from '../platform/contract/fields.js';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { GetLeaderboardDto, LeaderboardDto } from './leaderboard.dto.js';
import { LeaderboardService } from './leaderboard.service.js';

@ApiTags('Waitlist')
@Public()
@Controller('api/v1/waitlist')
export class LeaderboardController {
  constructor(private readonly leaderboards: LeaderboardService) {}

  @Get(':waitlist_id/leaderboard')
  @RateLimited('public')
  @ApiOperation({
    summary: 'Get the leaderboard of a waitlist',
    description:
      'Lists the active records with the most referrals, at least one each, with names and contact data shortened. It is empty unless the waitlist has `uses_leaderboard`. A waitlist that is not public gets 404.',
  })
  @ApiOkResponse({ description: 'The leaderboard.', type: LeaderboardDto })
  @ApiProblems('WAITLIST_NOT_FOUND')
  async getLeaderboard(
    @IdParam('waitlist_id', 1) id: number,
    @Query() { total_signups: length }: GetLeaderboardDto,
  ): Promise<LeaderboardDto> {
    return LeaderboardDto.from(await this.leaderboards.list(id, length));
  }
}
