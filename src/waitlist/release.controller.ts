import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from '../auth/repeatable.js';
import { IdParam } from '../platform/contract/fields.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { ListReleasesDto, PAGE_SIZE_MAX, ReleaseDto, RunReleaseDto } from './release.dto.js';
import { ReleaseService } from './release.service.js';

/** `/docs` fills in the first one, which changes nothing. */
const RUNS = {
  preview: { summary: 'What a run would do', value: { dry_run: true } },
  now: { summary: 'Run now', value: {} },
};

@ApiTags('Offer')
@ApiExtraModels(ReleaseDto)
@Controller('api/v1/waitlist')
export class ReleaseController {
  constructor(
    private readonly releases: ReleaseService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get(':waitlist_id/release')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({
    summary: 'List the runs of a release plan',
    description:
      'Returns the runs of the plan and of earlier ones, newest first. Of runs that an outage has skipped, the newest 100 are listed. The `Link` header leads to the next page.',
  })
  @ApiOkResponse({
    description: 'A page of runs.',
    schema: { type: 'array', maxItems: PAGE_SIZE_MAX, items: { $ref: getSchemaPath(ReleaseDto) } },
    headers: { Link: { $ref: '#/components/headers/Link' } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND')
  async listReleases(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Query() query: ListReleasesDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReleaseDto[]> {
    const page = await this.releases.list(caller, id, ListReleasesDto.toPage(query));
    this.pageHeaders.set(reply, query, page);
    return page.runs.map((run) => ReleaseDto.from(run));
  }

  @Post(':waitlist_id/release')
  @MemberOrKey({ role: 'editor', scope: 'manage' })
  @Repeatable()
  @HttpCode(200)
  @RouteConfig({ isLongWork: () => true })
  @ApiOperation({
    summary: 'Run a release plan now',
    description:
      'Runs `release_plan` once, now, even if it is paused or past its `until`. A run of more than 1,000 people continues after the answer, in pieces.',
  })
  @ApiBody({ type: RunReleaseDto, examples: RUNS })
  @ApiOkResponse({ description: 'The run. In a dry run, what it would offer.', type: ReleaseDto })
  @ApiProblems(
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'WAITLIST_NOT_FOUND',
    'NO_RELEASE_PLAN',
    'RELEASE_RUNNING',
    ...REPEAT_PROBLEMS,
  )
  async runRelease(
    @CurrentCaller() caller: Caller,
    @Write() write: AccountWrite,
    @IdParam('waitlist_id', 1) id: number,
    @Body() { dry_run: isDry }: RunReleaseDto,
  ): Promise<ReleaseDto> {
    return ReleaseDto.from(await (isDry ? this.releases.preview(caller, id) : this.releases.run(id, write)));
  }
}
