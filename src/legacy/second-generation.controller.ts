import { Body, Controller, Get, HttpCode, Ip, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { IdParam } from '../platform/contract/fields.js';
import { Public } from '../platform/http/public.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { captchaWaitMs } from '../signup/captcha.service.js';
import { SignupService } from '../signup/signup.service.js';
import { LeaderboardService } from '../waitlist/leaderboard.service.js';
import { Superseded } from './deprecation.js';
import { PublicLookup } from './public-queries.js';
import {
  CreateWaiterDto,
  FoundWaiterDto,
  GetWaiterDto,
  GetWaiterLeaderboardDto,
  PublicWaiterDto,
  WaiterLeaderboardDto,
} from './second-generation.dto.js';

@ApiTags('Second generation')
@Public()
@Controller('api/v1/waiter')
export class SecondGenerationController {
  constructor(
    private readonly signups: SignupService,
    private readonly leaderboards: LeaderboardService,
  ) {}

  @Post()
  @HttpCode(200)
  @Superseded('/api/v1/signup', { waitsMs: captchaWaitMs })
  @ApiOperation({
    deprecated: true,
    summary: 'Create a Waiter',
    description:
      'Signs a person up. The same as `POST /api/v1/signup`, with the same body and the same rules; the answer also has `referred_by_waiter_token` and `is_spam`.',
  })
  @ApiOkResponse({ description: 'The record, new or existing.', type: PublicWaiterDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'WAITLIST_RULE_BROKEN', 'WAITLIST_CLOSED', 'TOO_MANY_MISSES')
  async createWaiter(@Body() body: CreateWaiterDto, @Ip() address: string): Promise<PublicWaiterDto> {
    return PublicWaiterDto.from(await this.signups.join(CreateWaiterDto.toRequest(body), address));
  }

  @Get()
  @PublicLookup()
  @Superseded('/api/v1/signup')
  @ApiOperation({
    deprecated: true,
    summary: 'Get a Waiter',
    description:
      "Looks a person up. The same as `GET /api/v1/signup`, with the same limits; the answer also has `referred_by_waiter_token`, `is_spam` and `total_waiters_currently`. With an `Authorization` header or an account key, this path is the owner's List Waiters instead. It is that too if the query has no `email`, `phone` or `uuid`: then a request without a token gets 401.",
  })
  @ApiOkResponse({ description: 'The record.', type: FoundWaiterDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'NO_WAITER_FOUND', 'TOO_MANY_MISSES')
  async getWaiter(@Query() query: GetWaiterDto, @Ip() address: string): Promise<FoundWaiterDto> {
    return FoundWaiterDto.from(await this.signups.find(query, GetWaiterDto.toSought(query), address));
  }

  @Get(':waitlist_id/leaderboard')
  @Superseded('/api/v1/waitlist/{waitlist_id}/leaderboard')
  @ApiOperation({
    deprecated: true,
    summary: 'Get the leaderboard of a waitlist',
    description: 'The same as `GET /api/v1/waitlist/{waitlist_id}/leaderboard`, with another name for the number.',
  })
  @ApiOkResponse({ description: 'The leaderboard.', type: WaiterLeaderboardDto })
  @ApiProblems('WAITLIST_NOT_FOUND')
  async getWaiterLeaderboard(
    @IdParam('waitlist_id', 1) id: number,
    @Query() { total_waiters: length }: GetWaiterLeaderboardDto,
  ): Promise<WaiterLeaderboardDto> {
    return WaiterLeaderboardDto.from(await this.leaderboards.list(id, length));
  }
}
