import { Body, Controller, HttpCode, Ip, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { v7 as uuidV7 } from 'uuid';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CreateHeartbeatDto, HeartbeatDto } from './heartbeat.dto.js';
import { PageViewService } from './page-view.service.js';

@ApiTags('Waitlist')
@Public()
@Controller('api/v1/widget_heartbeats')
export class HeartbeatController {
  constructor(private readonly views: PageViewService) {}

  @Post()
  @HttpCode(200)
  @RateLimited('public')
  @ApiOperation({
    summary: 'Count a page view',
    description:
      'A signup page or a widget calls this once for each view. The service counts the views of each waitlist and day (UTC), and keeps nothing else. The statistics show a view within some seconds.',
  })
  @ApiOkResponse({ description: 'Counted.', type: HeartbeatDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'TOO_MANY_MISSES')
  async createHeartbeat(@Body() body: CreateHeartbeatDto, @Ip() address: string): Promise<HeartbeatDto> {
    await this.views.count(body, address);
    return { uuid: uuidV7() };
  }
}
