import { Body, Controller, Get, Patch, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiSecurity, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, OwnerOnly } from '../auth/access.js';
import type { Caller } from '../auth/token.service.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import { QueuePages } from '../queue/queue.pages.js';
import { QueueWriter } from '../queue/queue.writer.js';
import type { OwnedWaitlist as Owned } from '../waitlist/waitlist.service.js';
import { OwnedWaitlist, OwnedWaitlistGuard } from './owned-waitlist.guard.js';
import {
  ListWaitersDto,
  OFFBOARD_MAX,
  OffboardedWaiterDto,
  OffboardWaitersDto,
  PAGE_SIZE_MAX,
  WaiterDto,
} from './waiter.dto.js';

const OFFBOARD_BODY_MAX_BYTES = 1024 * 1024;

@ApiTags('Waiter')
@OwnerOnly(OwnedWaitlistGuard)
@ApiSecurity({ access_token: [], api_key: [] })
@ApiExtraModels(WaiterDto, OffboardedWaiterDto)
@Controller('api/v1/waiter')
export class WaiterController {
  constructor(
    private readonly pages: QueuePages,
    private readonly writer: QueueWriter,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get()
  @RouteConfig({ bodyAsQuery: true })
  @ApiOperation({
    summary: 'List Waiters',
    description:
      'The active records of the waitlist, or the offboarded ones, at most 100 a page, in the order of joining: successive offsets cover all, whatever moves in the line meanwhile. Where people are offboarded between two pages, follow the `Link` header (or `after_id`), which skips nobody. The waitlist is named by its `api_key`.',
  })
  @ApiOkResponse({
    description: 'A page of Waiters.',
    schema: { type: 'array', maxItems: PAGE_SIZE_MAX, items: { $ref: getSchemaPath(WaiterDto) } },
    headers: {
      Link: { $ref: '#/components/headers/Link' },
      'X-Total-Count': { $ref: '#/components/headers/X-Total-Count' },
    },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WRONG_API_KEY')
  async listWaiters(
    @OwnedWaitlist() waitlist: Owned,
    @Query() query: ListWaitersDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WaiterDto[]> {
    const page = await this.pages.page(waitlist.id, ListWaitersDto.toPage(query));
    this.pageHeaders.set(request, reply, query, {
      total: page.total,
      lastId: page.hasMore ? page.waiters.at(-1)?.id : undefined,
    });
    return page.waiters.map((waiter) =>
      WaiterDto.from(waiter, waitlist, page.active, query.questions_request ?? false),
    );
  }

  @Patch()
  @RouteConfig({ bodyMaxBytes: OFFBOARD_BODY_MAX_BYTES })
  @ApiOperation({
    summary: 'Offboard Waiters',
    description:
      'Takes people out of the line, all of the call or, on a failure, none. The answer holds those who left the line by it, in the order of `waiters`; ids that are unknown, of another waitlist, given twice or offboarded already are left out. There is no way back.',
  })
  @ApiOkResponse({
    description: 'The Waiters who left the line.',
    schema: { type: 'array', maxItems: OFFBOARD_MAX, items: { $ref: getSchemaPath(OffboardedWaiterDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WRONG_API_KEY')
  async offboardWaiters(
    @OwnedWaitlist() waitlist: Owned,
    @CurrentCaller() { account }: Caller,
    @Body() body: OffboardWaitersDto,
  ): Promise<OffboardedWaiterDto[]> {
    const offboarded = await this.writer.offboard(waitlist.id, body.waiters.map(({ id }) => id)); // prettier-ignore
    return offboarded.map((waiter) => OffboardedWaiterDto.from(waiter, waitlist, account.uuid));
  }
}
