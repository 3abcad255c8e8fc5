import { Controller, Get, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { IdParam, OneOf } from '../platform/contract/fields.js';
import { endOf } from '../platform/http/once-ended.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { ExportService, type Format, FORMATS } from './export.service.js';

const TYPES: Readonly<Record<Format, string>> = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' };

export class ExportDto {
  @OneOf({
    default: 'csv',
    enum: FORMATS,
    description: 'A CSV file with a header row, or one JSON object per line with the same fields.',
  })
  format: Format = 'csv';
}

@ApiTags('Waitlist')
@Controller('api/v1/waitlist')
export class ExportController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly exports: ExportService,
  ) {}

  @Get(':waitlist_id/export')
  @MemberOrKey({ role: 'editor', scope: 'read' })
  @RouteConfig({ isTransfer: true })
  @ApiOperation({
    summary: 'Export a waitlist',
    description:
      "Returns every record of one moment as a file that can be imported again: the active ones in the order of the queue, then the offboarded ones in the order of joining. In CSV, `'` stands before a cell that a spreadsheet would run as a formula. If the export fails half-way, the connection is closed before the end of the response. A client that takes less than 64 KiB in two minutes is disconnected. An account has one export under way at a time on each instance.",
  })
  @ApiOkResponse({
    description: 'The file.',
    content: {
      'text/csv': { schema: { type: 'string', format: 'binary' } },
      'application/x-ndjson': { schema: { type: 'string', format: 'binary' } },
    },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', 'TRANSFERS_BUSY')
  async exportWaitlist(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Query() { format }: ExportDto,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    await this.waitlists.get(caller, id);
    const text = await this.exports.open(caller.accountId, id, format, endOf(raw, reply.raw));
    const day = new Date().toISOString().slice(0, 10);
    const disposition = `attachment; filename="waitlist-${id}-${day}.${format}"`;
    return new StreamableFile(text, { type: TYPES[format], disposition });
  }
}
