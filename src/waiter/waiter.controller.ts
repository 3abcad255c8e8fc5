import { Body, Controller, Get, Header, Patch, Query, Req, Res, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtraModels, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, OwnerOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../auth/token.strategy.js';
import { ApiProblems } from '../platform/http/api-problems.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import type { OwnedWaitlist as Owned } from '../waitlist/waitlist.service.js';
import { OwnedWaitlist, OwnedWaitlistGuard } from './owned-waitlist.guard.js';
import { ListWaitersDto, OffboardedWaiterDto, OffboardWaitersDto, WaiterDto } from './waiter.dto.js';
import { WaiterService } from './waiter.service.js';

const OFFBOARD_BODY_MAX_BYTES = 1024 * 1024;

@ApiTags('Waiter')
@UseGuards(OwnedWaitlistGuard) // above OwnerOnly: the lower decorator's guard runs first, and this one needs its caller
@OwnerOnly()
@ApiHeader({ name: 'api-key', required: false, description: 'API key of the waitlist, where `api_key` is not given.' })
@ApiExtraModels(ListWaitersDto)
@Controller('api/v1/waiter')
export class WaiterController {
  constructor(
    private readonly waiters: WaiterService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ bodyAsQuery: true })
  @ApiOperation({ summary: 'List Waiters' })
  @ApiOkResponse({
    type: [WaiterDto],
    headers: {
      Link: { description: 'The next page, `rel="next"`, by `after_id`.', schema: { type: 'string' } },
      'X-Total-Count': { description: 'Waiters on all pages together.', schema: { type: 'integer' } },
    },
  })
  @ApiProblems(400, 401, 403)
  async listWaiters(
    @OwnedWaitlist() waitlist: Owned,
    @Query() query: ListWaitersDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WaiterDto[]> {
    const page = await this.waiters.list(waitlist, ListWaitersDto.toPage(query));
    this.pageHeaders.set(request, reply, {
      total: page.total,
      lastId: page.hasMore ? page.waiters.at(-1)?.id : undefined,
    });
    return page.waiters.map((waiter) =>
      WaiterDto.from(waiter, waitlist, page.active, query.questions_request ?? false),
    );
  }

  @Patch()
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ bodyMaxBytes: OFFBOARD_BODY_MAX_BYTES })
  @ApiOperation({ summary: 'Offboard Waiters' })
  @ApiOkResponse({ type: [OffboardedWaiterDto] })
  @ApiProblems(400, 401, 403, 413, 415)
  async offboardWaiters(
    @OwnedWaitlist() waitlist: Owned,
    @CurrentCaller() { account }: Caller,
    @Body() body: OffboardWaitersDto,
  ): Promise<OffboardedWaiterDto[]> {
    const offboarded = await this.waiters.offboard(waitlist, body.waiters.map(({ id }) => id)); // prettier-ignore
    return offboarded.map((waiter) => OffboardedWaiterDto.from(waiter, waitlist, account.uuid));
  }
}
