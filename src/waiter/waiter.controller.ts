import { Body, Controller, Get, Patch, Query, Res, type StreamableFile } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiSecurity,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/caller.js';
import { ID_SCHEMA } from '../platform/contract/formats.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { jsonArray } from '../platform/http/json-array.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import { QueueListing } from '../queue/read/queue.listing.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import type { OwnedWaitlist as Owned } from '../waitlist/waitlist.service.js';
import { isLongCall, RECORDS_BODY_MAX_BYTES, RECORDS_PER_CALL_MAX } from './bounds.js';
import { OwnedWaitlist, OwnedWaitlistGuard } from './owned-waitlist.guard.js';
import { ListWaitersDto, PAGE_SIZE_MAX } from './list-waiters.dto.js';
import { API_KEY_EXAMPLE } from './named-waitlist.dto.js';
import { OffboardWaitersDto } from './offboard-waiters.dto.js';
import { WaiterDto } from './waiter.dto.js';
import { WaiterService } from './waiter.service.js';

/** `/docs` fills it in. No Waiter has this id. */
const OFFBOARDING = {
  nobody: {
    summary: 'An id that no Waiter has; put an `id` from List Waiters in its place.',
    value: { api_key: API_KEY_EXAMPLE, offboard_request: true, waiters: [{ id: ID_SCHEMA.maximum }] },
  },
};

@ApiTags('Waiter')
@ApiSecurity({ access_token: [], api_key: [] })
@ApiExtraModels(WaiterDto)
@Controller('api/v1/waiter')
export class WaiterController {
  constructor(
    private readonly pages: QueueListing,
    private readonly reader: QueueReader,
    private readonly waiters: WaiterService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get()
  @MemberOrKey({ role: 'viewer', scope: 'read' }, OwnedWaitlistGuard)
  @RouteConfig({ bodyAsQuery: true })
  @ApiOperation({
    summary: 'List Waiters',
    description:
      'Returns the active Waiters of the waitlist, or those of another `status`, in pages of at most 100. All filters given must hold. By default they are sorted by time of joining, so changes of position do not affect the pages. To skip no one when Waiters are offboarded between two requests, follow the `Link` header instead of using `offset`. A Waiter whose offer expires to the end of the queue joins anew in this order; to learn of newcomers, use a webhook for `new_signup`.',
  })
  @ApiOkResponse({
    description: 'A page of Waiters.',
    schema: { type: 'array', maxItems: PAGE_SIZE_MAX, items: { $ref: getSchemaPath(WaiterDto) } },
    headers: {
      Link: { $ref: '#/components/headers/Link' },
      'X-Total-Count': { $ref: '#/components/headers/X-Total-Count' },
    },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WRONG_API_KEY', 'WAITLIST_NOT_FOUND')
  async listWaiters(
    @OwnedWaitlist() waitlist: Owned,
    @CurrentCaller() { accountUuid }: Caller,
    @Query() query: ListWaitersDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WaiterDto[]> {
    const page = await this.pages.page(waitlist.id, ListWaitersDto.toPage(query, waitlist.defaultRegion));
    this.pageHeaders.set(reply, query, page);
    const { questions_request: withQuestions, include_referrer: withReferrers } = query;
    const referrers = withReferrers ? await this.reader.findReferrers(waitlist.id, page.waiters) : undefined;
    const view = { waitlist, accountUuid, totalCurrently: page.active, withQuestions, referrers };
    return page.waiters.map((waiter) => WaiterDto.from(waiter, view));
  }

  @Patch()
  @MemberOrKey({ role: 'editor', scope: 'manage' }, OwnedWaitlistGuard)
  @Repeatable()
  @RouteConfig({ bodyMaxBytes: RECORDS_BODY_MAX_BYTES, isLongWork: isLongCall })
  @ApiOperation({
    summary: 'Offboard Waiters',
    description:
      'Removes Waiters from the queue: those in `waiters`, or the first ones of the queue with `offboard_next`. It removes all of them or none. If a Waiter in `waiters` has an open offer, it is accepted. Returns the Waiters that this request offboarded, in the order of `waiters` or of the queue. It ignores ids that are unknown, belong to another waitlist, are repeated, or were offboarded before. `POST /api/v1/waitlist/{waitlist_id}/return` brings Waiters back.',
  })
  @ApiBody({ type: OffboardWaitersDto, examples: OFFBOARDING })
  @ApiOkResponse({
    description: 'The offboarded Waiters.',
    schema: { type: 'array', maxItems: RECORDS_PER_CALL_MAX, items: { $ref: getSchemaPath(WaiterDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WRONG_API_KEY', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async offboardWaiters(
    @OwnedWaitlist() waitlist: Owned,
    @CurrentCaller() { accountUuid }: Caller,
    @Write() write: AccountWrite,
    @Body() body: OffboardWaitersDto,
  ): Promise<WaiterDto[] | StreamableFile> {
    const { uuids, active } = await this.waiters.offboard(waitlist.id, OffboardWaitersDto.toSelection(body), write);
    const view = { waitlist, accountUuid, totalCurrently: active };
    return jsonArray(uuids, async (some) => {
      const waiters = await this.reader.findByUuids(waitlist.id, some);
      return waiters.map((waiter) => WaiterDto.from(waiter, view));
    });
  }
}
