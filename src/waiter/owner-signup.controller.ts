import { Controller, Get, Query, Res, type StreamableFile } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, OwnerOnly } from '../auth/access.js';
import type { Caller } from '../auth/token.service.js';
import { IdParam, UuidParam } from '../platform/contract/fields.js';
import { jsonArray } from '../platform/http/json-array.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { QueuePages } from '../queue/queue.pages.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { DetailedWaiterDto } from './detailed-waiter.dto.js';
import { ListSignupsDto, SIGNUPS_PAGE_SIZE_MAX } from './list-signups.dto.js';
import { WaiterService } from './waiter.service.js';

const UUID = 'The `uuid` of the record.';

/** The owner's operations beside those of the public. A waitlist is named by its id, a record by its uuid. */
@ApiTags('Waiter')
@OwnerOnly()
@ApiExtraModels(DetailedWaiterDto)
@Controller('api/v1/signup')
export class OwnerSignupController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly pages: QueuePages,
    private readonly waiters: WaiterService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get('waitlist/:waitlist_id')
  @ApiOperation({
    summary: 'List the Waiters of a waitlist',
    description:
      'Returns the active Waiters in the order of the queue, or the offboarded ones in the order of joining, with their answers, in pages of at most 1,000. All filters given must hold. The `Link` header leads to the next page.',
  })
  @ApiOkResponse({
    description: 'A page of Waiters. More than 100 are sent in parts, without `Content-Length`.',
    schema: { type: 'array', maxItems: SIGNUPS_PAGE_SIZE_MAX, items: { $ref: getSchemaPath(DetailedWaiterDto) } },
    headers: {
      Link: { $ref: '#/components/headers/Link' },
      'X-Total-Count': { $ref: '#/components/headers/X-Total-Count' },
    },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND')
  async listSignups(
    @CurrentCaller() { account }: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Query() query: ListSignupsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DetailedWaiterDto[] | StreamableFile> {
    const waitlist = await this.waitlists.get(account.id, id);
    const page = await this.pages.page(id, ListSignupsDto.toPage(query));
    this.pageHeaders.set(reply, query, page);
    const { questions_request: withQuestions, include_referrer: withReferrers } = query;
    const view = { waitlist, ownerUuid: account.uuid, totalCurrently: page.active, withQuestions };
    return jsonArray(page.waiters, async (some) => {
      const { waiters, referrers } = await this.pages.complete(id, some, withReferrers);
      const shown = { ...view, referrers: withReferrers ? referrers : undefined };
      return waiters.map((waiter) => DetailedWaiterDto.from(waiter, shown));
    });
  }

  @Get(':uuid')
  @ApiOperation({ summary: 'Get a Waiter', description: 'Returns a record of one of your waitlists.' })
  @ApiOkResponse({ description: 'The Waiter.', type: DetailedWaiterDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'NO_WAITER_FOUND')
  async getWaiter(
    @CurrentCaller() { account }: Caller,
    @UuidParam('uuid', UUID) uuid: string,
  ): Promise<DetailedWaiterDto> {
    const { waiter, waitlist } = await this.waiters.get(account.id, uuid);
    return DetailedWaiterDto.from(waiter, { waitlist, ownerUuid: account.uuid, totalCurrently: waitlist.active });
  }
}
