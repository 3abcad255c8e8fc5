import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiAcceptedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { MemberLinkService } from '../account/member-link.service.js';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { ForgottenPasswordService } from './forgotten-password.service.js';
import {
  AcceptInvitationDto,
  ForgottenPasswordDto,
  InvitationDto,
  ResetPasswordDto,
  ViewInvitationDto,
} from './member-link.dto.js';
import { NeedsPasswordLogin } from './password-login.js';

/** Links by which members set a password. Their limits are those of logins. */
@ApiTags('Auth')
@Controller('api/v1/auth')
export class MemberLinkController {
  constructor(
    private readonly links: MemberLinkService,
    private readonly forgotten: ForgottenPasswordService,
  ) {}

  @Post('invitation')
  @HttpCode(200)
  @RateLimited('login')
  @Public()
  @ApiOperation({ summary: 'View an invitation', description: 'Returns what an invitation is for. It stays as it is.' })
  @ApiOkResponse({ description: 'The invitation.', type: InvitationDto })
  @ApiProblems('LINK_NOT_FOUND')
  async viewInvitation(@Body() { token }: ViewInvitationDto): Promise<InvitationDto> {
    return InvitationDto.from(await this.links.getInvitation(token));
  }

  @Post('invitation/accept')
  @HttpCode(204)
  @RateLimited('login')
  @Public()
  @NeedsPasswordLogin()
  @ApiOperation({
    summary: 'Accept an invitation',
    description:
      'Sets the password of an invited member, who can log in from then on. The link works once; a password that is refused leaves it as it is.',
  })
  @ApiNoContentResponse({ description: 'Joined.' })
  @ApiProblems('PASSWORD_LOGIN_OFF', 'LINK_NOT_FOUND')
  async acceptInvitation(@Body() body: AcceptInvitationDto, @Req() request: FastifyRequest): Promise<void> {
    await this.links.accept(body.token, AcceptInvitationDto.toAcceptance(body), request);
  }

  @Post('password/forgotten')
  @HttpCode(202)
  @RateLimited('login')
  @Public()
  @NeedsPasswordLogin()
  @ApiOperation({
    summary: 'Ask for a new password',
    description:
      'Mails an active member who has a password a link that sets another. The answer is the same for every email, in the same time. At most 5 such mails an hour go to one mailbox; beyond that the answer is the same, and no mail is sent.',
  })
  @ApiAcceptedResponse({ description: 'A mail is sent if the email belongs to an active member with a password.' })
  @ApiProblems('PASSWORD_LOGIN_OFF', 'MAIL_IS_OFF')
  requestPasswordReset(@Body() { email }: ForgottenPasswordDto, @Req() request: FastifyRequest): void {
    this.forgotten.note(email, request);
  }

  @Post('password/reset')
  @HttpCode(204)
  @RateLimited('login')
  @Public()
  @NeedsPasswordLogin()
  @ApiOperation({
    summary: 'Set a new password by a link',
    description:
      'Sets the password of the member of the link and ends all their logins. The second factor stays. The link works once; a password that is refused leaves it as it is.',
  })
  @ApiNoContentResponse({ description: 'Set.' })
  @ApiProblems('PASSWORD_LOGIN_OFF', 'LINK_NOT_FOUND')
  async resetPassword(
    @Body() { token, new_password }: ResetPasswordDto,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    await this.links.reset(token, new_password, request);
  }
}
