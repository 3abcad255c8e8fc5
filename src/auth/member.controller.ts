import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { MemberLinkService } from '../account/member-link.service.js';
import { type Member, MemberService } from '../account/member.service.js';
import { UuidParam } from '../platform/contract/fields.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CurrentCaller, MemberOnly } from './access.js';
import type { Caller } from './caller.js';
import {
  InvitedMemberDto,
  InviteMemberDto,
  ListMembersDto,
  MemberDto,
  PAGE_SIZE_MAX,
  StartedResetDto,
  UpdateMemberDto,
  UpdateOwnMemberDto,
} from './member.dto.js';
import { NeedsPasswordLogin } from './password-login.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from './repeatable.js';
import type { TokenCaller } from './token.service.js';

const CALLER_PROBLEMS = ['MISSING_TOKEN', 'INVALID_TOKEN', 'INVALID_ACCOUNT_KEY', 'INSUFFICIENT_SCOPE'] as const;
const MEMBER_ID = 'The `id` of the member.';

@ApiTags('Member')
@ApiExtraModels(MemberDto)
@Controller('api/v1/member')
export class MemberController {
  private readonly dtoOf = (member: Member) => MemberDto.from(member, this.members.signInsOf(member));

  constructor(
    private readonly members: MemberService,
    private readonly links: MemberLinkService,
    private readonly pageHeaders: PageHeaders,
  ) {}

  @Get()
  @MemberOnly('owner')
  @ApiOperation({
    summary: 'List the members of the account',
    description:
      'Returns the members, oldest first, in pages of at most 100. The `Link` header leads to the next page.',
  })
  @ApiOkResponse({
    description: 'A page of members.',
    schema: { type: 'array', maxItems: PAGE_SIZE_MAX, items: { $ref: getSchemaPath(MemberDto) } },
    headers: { Link: { $ref: '#/components/headers/Link' } },
  })
  @ApiProblems(...CALLER_PROBLEMS)
  async listMembers(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: ListMembersDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MemberDto[]> {
    const page = await this.members.list(accountId, ListMembersDto.toPage(query));
    this.pageHeaders.set(reply, query, page);
    return page.members.map((member) => this.dtoOf(member));
  }

  @Post()
  @MemberOnly('owner')
  @Repeatable()
  @ApiOperation({
    summary: 'Invite a member',
    description:
      'Adds a member who joins by a link. The answer has the link, this once, and the invited member gets it by mail if the service sends mail. An account has at most 1,000 members.',
  })
  @ApiCreatedResponse({ description: 'The invited member, with the link.', type: InvitedMemberDto })
  @ApiProblems(...CALLER_PROBLEMS, 'EMAIL_TAKEN', 'TOO_MANY_MEMBERS', ...REPEAT_PROBLEMS)
  async inviteMember(@Write() write: AccountWrite, @Body() body: InviteMemberDto): Promise<InvitedMemberDto> {
    return InvitedMemberDto.fromInvited(await this.links.invite(InviteMemberDto.toInvitee(body), write));
  }

  @Post(':id/invitation')
  @MemberOnly('owner')
  @Repeatable()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Invite a member again',
    description: 'Gives a member who has not joined yet a new link. The earlier one ends.',
  })
  @ApiOkResponse({ description: 'The invited member, with the link.', type: InvitedMemberDto })
  @ApiProblems(...CALLER_PROBLEMS, 'MEMBER_NOT_FOUND', 'MEMBER_ACTIVE', ...REPEAT_PROBLEMS)
  async inviteMemberAgain(
    @Write() write: AccountWrite,
    @UuidParam('id', MEMBER_ID) id: string,
  ): Promise<InvitedMemberDto> {
    return InvitedMemberDto.fromInvited(await this.links.inviteAgain(id, write));
  }

  @Post(':id/password_reset')
  @MemberOnly('owner')
  @NeedsPasswordLogin()
  @Repeatable()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Start a password reset',
    description:
      'Mails an active member a link that sets a new password. Without mail, the answer has the link, this once. The present password and logins go on until the link is used. An earlier link ends, unless `mailed` is false for a bound: then nothing changes.',
  })
  @ApiOkResponse({ description: 'What became of the link.', type: StartedResetDto })
  @ApiProblems(...CALLER_PROBLEMS, 'PASSWORD_LOGIN_OFF', 'MEMBER_NOT_FOUND', 'MEMBER_NOT_ACTIVE', ...REPEAT_PROBLEMS)
  async startPasswordReset(
    @Write() write: AccountWrite,
    @UuidParam('id', MEMBER_ID) id: string,
  ): Promise<StartedResetDto> {
    return StartedResetDto.from(await this.links.startReset(id, write));
  }

  @Get('me')
  @MemberOnly('viewer', { isOpenWithoutTwoFactor: true })
  @ApiOperation({ summary: 'Get myself', description: 'Returns the member that the access token belongs to.' })
  @ApiOkResponse({ description: 'The member.', type: MemberDto })
  @ApiProblems(...CALLER_PROBLEMS)
  async getOwnMember(@CurrentCaller() { accountId, member }: TokenCaller): Promise<MemberDto> {
    return this.dtoOf(await this.members.get(accountId, member.id));
  }

  @Patch('me')
  @MemberOnly('viewer', { isOpenWithoutTwoFactor: true })
  @Repeatable()
  @ApiOperation({
    summary: 'Change myself',
    description: 'Sets the name of the member that the access token belongs to.',
  })
  @ApiOkResponse({ description: 'The changed member.', type: MemberDto })
  @ApiProblems(...CALLER_PROBLEMS, ...REPEAT_PROBLEMS)
  async updateOwnMember(
    @CurrentCaller() { member }: TokenCaller,
    @Write() write: AccountWrite,
    @Body() body: UpdateOwnMemberDto,
  ): Promise<MemberDto> {
    return this.dtoOf(await this.members.update(member.id, UpdateOwnMemberDto.toChanges(body), write));
  }

  @Patch(':id')
  @MemberOnly('owner')
  @Repeatable()
  @ApiOperation({
    summary: 'Change a member',
    description:
      'Omitted fields keep their value. Another role holds from the next request on, and so does `is_active: false`, which also ends the logins of the member for good. An account keeps an active owner who can log in.',
  })
  @ApiOkResponse({ description: 'The changed member.', type: MemberDto })
  @ApiProblems(...CALLER_PROBLEMS, 'MEMBER_NOT_FOUND', 'LAST_OWNER', ...REPEAT_PROBLEMS)
  async updateMember(
    @Write() write: AccountWrite,
    @UuidParam('id', MEMBER_ID) id: string,
    @Body() body: UpdateMemberDto,
  ): Promise<MemberDto> {
    return this.dtoOf(await this.members.update(id, UpdateMemberDto.toChanges(body), write));
  }

  @Delete(':id')
  @MemberOnly('owner')
  @Repeatable()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Remove a member',
    description:
      'Ends the logins of the member at once and frees the email. The account keys that the member made go on; `created_by` names them. An account keeps an active owner who can log in.',
  })
  @ApiNoContentResponse({ description: 'Removed.' })
  @ApiProblems(...CALLER_PROBLEMS, 'MEMBER_NOT_FOUND', 'LAST_OWNER', ...REPEAT_PROBLEMS)
  async removeMember(@Write() write: AccountWrite, @UuidParam('id', MEMBER_ID) id: string): Promise<void> {
    await this.members.remove(id, write);
  }

  @Delete(':id/two_factor')
  @MemberOnly('owner')
  @Repeatable()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Reset the second factor of a member',
    description:
      'For a member who has lost it: the second factor and its recovery codes are gone, and the logins of the member end. The next login needs the password alone. Your own is disabled with `POST /api/v1/auth/two_factor/disable`.',
  })
  @ApiNoContentResponse({ description: 'Reset.' })
  @ApiProblems(...CALLER_PROBLEMS, 'MEMBER_NOT_FOUND', 'OWN_TWO_FACTOR', ...REPEAT_PROBLEMS)
  async resetTwoFactor(@Write() write: AccountWrite, @UuidParam('id', MEMBER_ID) id: string): Promise<void> {
    await this.members.resetTwoFactor(id, write);
  }
}
