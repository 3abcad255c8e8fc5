import { Body, Controller, Delete, Get, HttpCode, Patch, Query, Res, type StreamableFile } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/caller.js';
import { IdParam, UuidParam } from '../platform/contract/fields.js';
import { jsonArray } from '../platform/http/json-array.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { QueueListing } from '../queue/read/queue.listing.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { isLongCall, RECORDS_BODY_MAX_BYTES, RECORDS_PER_CALL_MAX } from './bounds.js';
import { DetailedWaiterDto } from './detailed-waiter.dto.js';
import { ListSignupsDto, SIGNUPS_PAGE_SIZE_MAX } from './list-signups.dto.js';
import { EraseSignupsDto, OffboardSignupsDto, uuidsOf } from './named-signups.dto.js';
import { UpdateWaiterDto } from './update-waiter.dto.js';
import { type FoundWaiter, WaiterService } from './waiter.service.js';

const UUID = 'The `uuid` of the record.';

/** `/docs` fills in the first one, which is harmless as it stands. */
const CHANGES = {
  nothing: { summary: 'Nothing', value: {} },
  position: { summary: 'The position', value: { spots_to_advance: 3 } },
  email: { summary: 'The email', value: { email: 'ada@example.org' } },
};

/** Operations of an account under the path of the public ones. A waitlist is named by its id, a record by its uuid. */
@ApiTags('Waiter')
@ApiExtraModels(DetailedWaiterDto)
@Controller('api/v1/signup')
export class AccountSignupController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly pages: QueueListing,
    private readonly reader: QueueReader,
    private readonly waiters: WaiterService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get('waitlist/:waitlist_id')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({
    summary: 'List the Waiters of a waitlist',
    description:
      'Returns the active Waiters in the order of the queue or of their referrals, the offboarded ones in the order of joining, those of a `status` by id, or those with a `name` in the order of names. They come with their answers, in pages of at most 1,000. All filters given must hold. The `Link` header leads to the next page.',
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
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Query() query: ListSignupsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DetailedWaiterDto[] | StreamableFile> {
    const waitlist = await this.waitlists.get(caller, id);
    const page = await this.pages.page(id, ListSignupsDto.toPage(query));
    const { questions_request: withQuestions, include_referrer: withReferrers } = query;
    const view = { waitlist, accountUuid: caller.accountUuid, totalCurrently: page.active, withQuestions };
    const answer = await jsonArray(page.waiters, async (some) => {
      const { waiters, referrers } = await this.pages.complete(id, some, withReferrers);
      const shown = { ...view, referrers: withReferrers ? referrers : undefined };
      return waiters.map((waiter) => DetailedWaiterDto.from(waiter, shown));
    });
    this.pageHeaders.set(reply, query, page);
    return answer;
  }

  @Get(':uuid')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({ summary: 'Get a Waiter', description: 'Returns a record of one of your waitlists.' })
  @ApiOkResponse({ description: 'The Waiter.', type: DetailedWaiterDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'NO_WAITER_FOUND')
  async getWaiter(@CurrentCaller() caller: Caller, @UuidParam('uuid', UUID) uuid: string): Promise<DetailedWaiterDto> {
    return detailed(await this.waiters.get(caller, uuid), caller.accountUuid);
  }

  @Patch(':uuid')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @ApiOperation({
    summary: 'Correct or move a Waiter',
    description:
      'Omitted fields keep their value; null or blank text removes one. A record keeps an email or a phone, but the contact data that the waitlist requires of signups may be removed. `spots_to_advance` moves the Waiter by that many positions, and adds to what was granted before, so repeat it only with an `Idempotency-Key`. An offered or offboarded Waiter keeps its last priority. A new email ends the code of an open offer, and a new code is mailed to it.',
  })
  @ApiBody({ type: UpdateWaiterDto, examples: CHANGES })
  @ApiOkResponse({ description: 'The Waiter after the change.', type: DetailedWaiterDto })
  @ApiProblems(
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'NO_WAITER_FOUND',
    'CONTACT_TAKEN',
    'WAITLIST_RULE_BROKEN',
    ...REPEAT_PROBLEMS,
  )
  async updateWaiter(
    @CurrentCaller() caller: Caller,
    @Write() write: AccountWrite,
    @UuidParam('uuid', UUID) uuid: string,
    @Body() body: UpdateWaiterDto,
  ): Promise<DetailedWaiterDto> {
    return detailed(await this.waiters.update(uuid, UpdateWaiterDto.toChanges(body), write), caller.accountUuid);
  }

  @Patch()
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @RouteConfig({ bodyMaxBytes: RECORDS_BODY_MAX_BYTES, isLongWork: isLongCall })
  @ApiOperation({
    summary: 'Offboard Waiters by uuid',
    description:
      'Removes Waiters from the queue, all of them or none. If a Waiter has an open offer, it is accepted. Returns those that this request offboarded, in the order of `signups`. It ignores uuids that are unknown, belong to another waitlist, are repeated, or were offboarded before. `POST /api/v1/waitlist/{waitlist_id}/return` brings Waiters back.',
  })
  @ApiOkResponse({
    description: 'The offboarded Waiters.',
    schema: { type: 'array', maxItems: RECORDS_PER_CALL_MAX, items: { $ref: getSchemaPath(DetailedWaiterDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async offboardSignups(
    @CurrentCaller() caller: Caller,
    @Write() write: AccountWrite,
    @Body() body: OffboardSignupsDto,
  ): Promise<DetailedWaiterDto[] | StreamableFile> {
    const waitlist = await this.waitlists.get(caller, body.waitlist_id);
    const selection = { uuids: uuidsOf(body) };
    const { uuids, active } = await this.waiters.offboard(waitlist.id, selection, write);
    const view = { waitlist, accountUuid: caller.accountUuid, totalCurrently: active };
    return jsonArray(uuids, async (some) => {
      const waiters = await this.reader.findByUuids(waitlist.id, some);
      return waiters.map((waiter) => DetailedWaiterDto.from(waiter, view));
    });
  }

  @Delete()
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @RouteConfig({ bodyMaxBytes: RECORDS_BODY_MAX_BYTES })
  @HttpCode(204)
  @ApiOperation({
    summary: 'Erase Waiters',
    description:
      'Deletes records with all their personal data, permanently, all of them or none. The queue closes up. Referrals keep counting for the other Waiters; the `referral_token` of an erased one gives credit to no one. The person can sign up again, as a new record. Ignores uuids that are unknown or belong to another waitlist.',
  })
  @ApiNoContentResponse({ description: 'Erased.' })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async eraseSignups(
    @CurrentCaller() caller: Caller,
    @Write() write: AccountWrite,
    @Body() body: EraseSignupsDto,
  ): Promise<void> {
    const { id } = await this.waitlists.get(caller, body.waitlist_id);
    await this.waiters.erase(id, uuidsOf(body), write);
  }
}

function detailed({ waiter, waitlist, referrers }: FoundWaiter, accountUuid: string): DetailedWaiterDto {
  return DetailedWaiterDto.from(waiter, { waitlist, accountUuid, totalCurrently: waitlist.active, referrers });
}
