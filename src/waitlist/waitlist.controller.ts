import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/caller.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { IdParam } from '../platform/contract/fields.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import { StatisticsService } from './statistics.service.js';
import {
  ApiKeyDto,
  CreatedWaitlistDto,
  CreateWaitlistDto,
  ListWaitlistsDto,
  UpdatedWaitlistDto,
  UpdateWaitlistDto,
  WaitlistDto,
} from './waitlist.dto.js';
import { WaitlistService } from './waitlist.service.js';

/** The operations that take the id of a new waitlist. */
const LINKS = Object.fromEntries(
  ['getWaitlist', 'updateWaitlist', 'replaceApiKey', 'deleteWaitlist'].map((operationId) => [
    operationId,
    { operationId, parameters: { waitlist_id: '$response.body#/id' } },
  ]),
);

/** `/docs` fills in the first one, which works more than once. */
const NEW_WAITLISTS = {
  new: { summary: 'With defaults', value: { waitlist_name: 'My waitlist' } },
  page: {
    summary: 'For a page of your own',
    value: { waitlist_name: 'My waitlist', waitlist_url_location: 'https://example.com/join' },
  },
  moved: {
    summary: 'From the hosted product, with its id and public key',
    value: { waitlist_name: 'My waitlist', id: 26022, public_key: '4T7WX0QK' },
  },
};

/** `/docs` fills in the first one, which is harmless as it stands. */
const CHANGES = {
  nothing: { summary: 'Nothing', value: {} },
  name: { summary: 'The name', value: { waitlist_name: 'My waitlist' } },
  referrals: { summary: 'The spots per referral', value: { spots_to_move_upon_referral: 5 } },
  contact: { summary: 'The required contact data', value: { required_contact: { phone: 'required' } } },
  fraud: { summary: 'The rules against false referrals', value: { fraud: { referrals_per_hour: 30 } } },
  questions: { summary: 'The questions', value: { questions: [{ question_value: 'How did you hear of us?' }] } },
};

@ApiTags('Waitlist')
@Controller('api/v1/waitlist')
export class WaitlistController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly statistics: StatisticsService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Post()
  @MemberOrKey({ role: 'editor', scope: 'manage', isOfAccount: true })
  @Repeatable()
  @ApiOperation({
    summary: 'Create a waitlist',
    description:
      'Returns the waitlist and its API key. The key is shown only once; the service stores a hash of it. A waitlist that moves here from the hosted product may bring its `id` and `public_key`, unless another waitlist has or ever had them.',
  })
  @ApiBody({ type: CreateWaitlistDto, examples: NEW_WAITLISTS })
  @ApiCreatedResponse({ description: 'The new waitlist, with its API key.', type: CreatedWaitlistDto, links: LINKS })
  @ApiProblems(
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'ID_TAKEN',
    'PUBLIC_KEY_TAKEN',
    'SLUG_TAKEN',
    'TOO_MANY_SLUGS',
    ...REPEAT_PROBLEMS,
    'WAITLIST_RULE_BROKEN',
  )
  async createWaitlist(@Write() write: AccountWrite, @Body() body: CreateWaitlistDto): Promise<CreatedWaitlistDto> {
    const [settings, names] = [CreateWaitlistDto.toSettings(body), CreateWaitlistDto.toNames(body)];
    const { waitlist, apiKey } = await this.waitlists.create(settings, write, names);
    return CreatedWaitlistDto.withKey(waitlist, apiKey);
  }

  @Get()
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({
    summary: 'List my waitlists',
    description:
      "Returns the account's waitlists, oldest first, with their numbers of records, in pages of at most 100. The `Link` header leads to the next page.",
  })
  @ApiOkResponse({
    description: 'A page of waitlists.',
    type: [WaitlistDto],
    headers: { Link: { $ref: '#/components/headers/Link' } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async listWaitlists(
    @CurrentCaller() caller: Caller,
    @Query() query: ListWaitlistsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WaitlistDto[]> {
    const page = await this.waitlists.list(caller, ListWaitlistsDto.toPage(query));
    this.pageHeaders.set(reply, query, page);
    return page.waitlists.map((waitlist) => WaitlistDto.from(waitlist));
  }

  @Patch(':waitlist_id')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  // All records with referrals may move.
  @RouteConfig({ isLongWork: (body?: UpdateWaitlistDto | null) => body?.spots_to_move_upon_referral !== undefined })
  @ApiOperation({
    summary: 'Change a waitlist',
    description:
      'Omitted fields keep their value. `questions` replaces the whole list: a question keeps its `id` and so its answers, and one that is left out is removed, while its answers stay readable. A waitlist has at most 30 questions, removed ones included; beyond that the answer is 422. A change of `spots_to_move_upon_referral` reorders the queue at once and applies to past referrals too.',
  })
  @ApiBody({ type: UpdateWaitlistDto, examples: CHANGES })
  @ApiOkResponse({ description: 'The changed waitlist.', type: UpdatedWaitlistDto })
  @ApiProblems(
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'WAITLIST_NOT_FOUND',
    'SLUG_TAKEN',
    'TOO_MANY_SLUGS',
    ...REPEAT_PROBLEMS,
    'WAITLIST_RULE_BROKEN',
  )
  async updateWaitlist(
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) id: number,
    @Body() body: UpdateWaitlistDto,
  ): Promise<UpdatedWaitlistDto> {
    const { waitlist, mails, recordsMoved } = await this.waitlists.update(
      id,
      CreateWaitlistDto.toSettings(body),
      write,
    );
    return UpdatedWaitlistDto.afterChange({ ...waitlist, mails }, await this.statistics.countWaiting(id), recordsMoved);
  }

  @Delete(':waitlist_id')
  @MemberOrKey({ role: 'owner', scope: 'manage' })
  @Repeatable()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a waitlist and its records',
    description:
      'Deletes the waitlist permanently. Its key and its records stop working at once; the records are then deleted from the database in the background.',
  })
  @ApiNoContentResponse({ description: 'Deleted.' })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async deleteWaitlist(@Write() write: AccountWrite, @IdParam('waitlist_id') id: number): Promise<void> {
    await this.waitlists.delete(id, write);
  }

  @Post(':waitlist_id/api_key')
  @MemberOrKey({ role: 'owner', scope: 'manage' })
  @Repeatable()
  @ApiOperation({
    summary: "Replace a waitlist's API key",
    description: 'Returns a new key, which is shown only once. The old key stops working at once.',
  })
  @ApiCreatedResponse({ description: 'The new key.', type: ApiKeyDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', ...REPEAT_PROBLEMS)
  async replaceApiKey(@Write() write: AccountWrite, @IdParam('waitlist_id') id: number): Promise<ApiKeyDto> {
    return { api_key: await this.waitlists.renewApiKey(id, write) };
  }
}
