import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AuditLog } from '../platform/audit/audit-log.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CurrentCaller, MemberOrKey } from './access.js';
import { AuditEventDto, ListAuditEventsDto, PAGE_SIZE_MAX } from './audit.dto.js';
import type { Caller } from './caller.js';

@ApiTags('Audit')
@ApiExtraModels(AuditEventDto)
@Controller('api/v1/audit')
export class AuditController {
  constructor(
    private readonly audit: AuditLog,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get()
  @MemberOrKey({ role: 'owner', scope: 'read' })
  @ApiOperation({
    summary: 'List audit events',
    description:
      "Returns the account's own events, newest first: changes of the account, its members and its waitlists, offboardings, failed and throttled logins, logins that were ended, and the reuse of a refresh token. A key that is limited to waitlists gets their events only. The operator sets how long events are kept; the default is 400 days.",
  })
  @ApiOkResponse({
    description: 'A page of events.',
    schema: { type: 'array', maxItems: PAGE_SIZE_MAX, items: { $ref: getSchemaPath(AuditEventDto) } },
    headers: { Link: { $ref: '#/components/headers/Link' } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async listAuditEvents(
    @CurrentCaller() caller: Caller,
    @Query() query: ListAuditEventsDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuditEventDto[]> {
    const page = await this.audit.list(caller, ListAuditEventsDto.toFilter(query));
    this.pageHeaders.set(reply, query, page);
    return page.events.map((event) => AuditEventDto.from(event, caller.accountUuid));
  }
}
