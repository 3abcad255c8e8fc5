import { Readable } from 'node:stream';
import { Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, MemberOrKey } from '../auth/access.js';
import { Write } from '../auth/repeatable.js';
import type { Caller } from '../auth/caller.js';
import { IdParam } from '../platform/contract/fields.js';
import { endOf } from '../platform/http/once-ended.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { Problem } from '../platform/problems/problem.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { ImportDto, ImportReportDto, ImportRunDto } from './import.dto.js';
import { ImportService } from './import.service.js';
import { progressLines } from './progress-lines.js';

const NEED = { role: 'editor', scope: 'manage' } as const;
/** A million people with metadata and answers fit. */
const FILE_MAX_BYTES = 1024 * 1024 * 1024;
const PROGRESS_TYPE = 'application/x-ndjson';

@ApiTags('Waitlist')
@ApiExtraModels(ImportReportDto)
@Controller('api/v1/waitlist')
export class ImportController {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly imports: ImportService,
  ) {}

  @Post(':waitlist_id/import')
  @MemberOrKey(NEED)
  @HttpCode(200)
  @RouteConfig({ isTransfer: true, takesCsv: true, bodyMaxBytes: FILE_MAX_BYTES })
  @ApiOperation({
    summary: 'Import people',
    description:
      'Adds the people of a CSV file behind those who are in the queue already, in the order of `join_order` or of `created_at`.\n\nThe first line names the columns: `email` or `phone`, and any of `first_name`, `last_name`, `created_at`, `join_order`, `referral_token`, `referred_by`, `amount_referred`, `spots_advanced`, `registered_email`, `credit`, `credit_reasons`, `removed_date`, `removed_priority`, `removed_reason`, `joined_priority`, `verified`, `uuid`, `metadata`, `question_1` to `question_3` with `answer_1` to `answer_3`, and `answers`. It also shows whether commas, semicolons or tabs separate the cells.\n\nNames as spreadsheets have them are read too: without regard to case, spaces, `_` and `-` (`First Name`, `Referred By`), and as `mail`, `email address`, `given name`, `surname`, `family name`, `name`, `phone number`, `mobile`, `signup date`, `signed up`, `referral code` and `referred_by_signup_token`. A column with the exact name wins over one with another. In a column that was recognized by another spelling or name, an invalid value is left out and counted, and the rest of its line is imported, unless the person then has neither email nor phone. All other columns are ignored, unless `columns` says otherwise. The report says what each column was read as.\n\nTimes are ISO 8601, `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD_HH-MM-SS`, in UTC unless they have an offset. A token stays as it is unless another record has it. Lines with a fault are rejected and reported; people whom the waitlist has already are skipped.\n\nThe response comes when all is done. With `Accept: application/x-ndjson` it begins at once: a line of progress each second, then the report or a problem. Once the file has arrived, the import goes on even if the connection ends. An import that was interrupted is completed by another one of the same file with the same `columns`, which repeats nothing. With other `columns`, it is a new import: people whom the waitlist has are skipped, and nothing about them changes. A dry run ends with its connection.\n\nA file has at most 20 million lines, and a line at most 2 MiB and 800 cells. After 1,000,000 rejected lines the import ends, and the last of its `errors` says so. An account has one import under way at a time on each instance. A client that sends less than 64 KiB in 30 seconds, or after the first minute less than 16 KiB a second on average, is disconnected.',
  })
  @ApiConsumes('text/csv')
  @ApiBody({ required: true, schema: { type: 'string', format: 'binary' } })
  @ApiOkResponse({
    description: 'What became of the lines.',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(ImportReportDto) } },
      [PROGRESS_TYPE]: { schema: { type: 'string', format: 'binary' } },
    },
  })
  @ApiProblems(
    'INVALID_CSV',
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'WAITLIST_NOT_FOUND',
    'IMPORT_RUNNING',
    'TRANSFERS_BUSY',
  )
  async importWaiters(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) id: number,
    @Query() { dry_run: isDryRun, columns }: ImportDto,
    @Write() write: AccountWrite,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ImportReportDto | Readable> {
    const ended = endOf(request.raw, reply.raw);
    await this.waitlists.get(caller, id);
    const body = (request.body ?? Readable.from([])) as Readable;
    const options = { waitlistId: id, isDryRun, columns, write, ended, caller, need: NEED };
    const underWay = await this.imports.receive(body, options);
    if (!request.headers.accept?.includes(PROGRESS_TYPE)) return ImportReportDto.from(await underWay.report);
    void reply.type(PROGRESS_TYPE);
    return Readable.from(progressLines(underWay, request), { objectMode: false });
  }

  @Get(':waitlist_id/import')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({ summary: 'Get the latest import', description: 'The state of the latest import, and its report.' })
  @ApiOkResponse({ description: 'The latest import.', type: ImportRunDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND', 'NO_IMPORT_FOUND')
  async getImport(@CurrentCaller() caller: Caller, @IdParam('waitlist_id', 1) id: number): Promise<ImportRunDto> {
    await this.waitlists.get(caller, id);
    const latest = await this.imports.findLatest(id);
    if (!latest) throw new Problem('NO_IMPORT_FOUND');
    return ImportRunDto.from(latest);
  }
}
