import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, MemberOnly, MemberOrKey } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import type { TokenCaller } from '../auth/token.service.js';
import { IdParam } from '../platform/contract/fields.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { MailKindDto, MailPreviewDto } from './waitlist-mail.dto.js';
import { TESTS_MAX, WaitlistMailService } from './waitlist-mail.service.js';

@ApiTags('Waitlist')
@Controller('api/v1/waitlist/:waitlist_id')
export class WaitlistMailController {
  constructor(private readonly mails: WaitlistMailService) {}

  @Get('mail_preview')
  @MemberOrKey({ role: 'viewer', scope: 'read' })
  @ApiOperation({
    summary: 'Preview a mail',
    description:
      'Returns a mail to people as the waitlist words it, in its language, with invented values: Ada, number 5. Its links lead to the page of the waitlist. It needs no `SMTP_URL`.',
  })
  @ApiOkResponse({ description: 'The mail.', type: MailPreviewDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WAITLIST_NOT_FOUND')
  async previewMail(
    @CurrentCaller() caller: Caller,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @Query() { kind }: MailKindDto,
  ): Promise<MailPreviewDto> {
    return MailPreviewDto.from(await this.mails.preview(caller, waitlistId, kind));
  }

  @Post('mail_test')
  @MemberOnly('editor')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Mail a preview to myself',
    description: `Mails the preview to your own email, at most ${TESTS_MAX} an hour. It needs a service that sends mail (\`SMTP_URL\`); else the answer is 422. No account key may call this.`,
  })
  @ApiAcceptedResponse({ description: 'The mail is on its way.' })
  @ApiProblems(
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'INVALID_ACCOUNT_KEY',
    'INSUFFICIENT_SCOPE',
    'WAITLIST_NOT_FOUND',
    'WAITLIST_RULE_BROKEN',
    'RATE_LIMITED',
  )
  async sendTestMail(
    @CurrentCaller() caller: TokenCaller,
    @IdParam('waitlist_id', 1) waitlistId: number,
    @Body() { kind }: MailKindDto,
  ): Promise<void> {
    await this.mails.test(caller, caller.member.id, waitlistId, kind);
  }
}
