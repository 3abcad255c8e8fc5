import { Body, Controller, Delete, Get, HttpCode, Patch, Query, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type Member, MemberService } from '../account/member.service.js';
import { UuidParam } from '../platform/contract/fields.js';
import { PageHeaders } from '../platform/http/page-headers.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CurrentCaller, MemberOnly } from './access.js';
import type { Caller } from './caller.js';
import { ListMembersDto, MemberDto, PAGE_SIZE_MAX, UpdateMemberDto, UpdateOwnMemberDto } from './member.dto.js';
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

  @Get('me')
  @MemberOnly('viewer')
  @ApiOperation({ summary: 'Get myself', description: 'Returns the member that the access token belongs to.' })
  @ApiOkResponse({ description: 'The member.', type: MemberDto })
  @ApiProblems(...CALLER_PROBLEMS)
  async getOwnMember(@CurrentCaller() { accountId, member }: TokenCaller): Promise<MemberDto> {
    return this.dtoOf(await this.members.get(accountId, member.id));
  }

  @Patch('me')
  @MemberOnly('viewer')
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
}
