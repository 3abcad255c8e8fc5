import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccountService } from '../account/account.service.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CurrentCaller, MemberOnly, MemberOrKey } from './access.js';
import { AccountDto, UpdateAccountDto } from './account.dto.js';
import type { Caller } from './caller.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from './repeatable.js';

@ApiTags('Account')
@Controller('api/v1/account')
export class AccountController {
  constructor(private readonly accounts: AccountService) {}

  @Get()
  @MemberOrKey({ role: 'viewer', scope: 'read', isOpenWithoutTwoFactor: true })
  @ApiOperation({ summary: 'Get the account', description: 'Returns the account of the caller.' })
  @ApiOkResponse({ description: 'The account.', type: AccountDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async getAccount(@CurrentCaller() { accountId }: Caller): Promise<AccountDto> {
    return AccountDto.from(await this.accounts.get(accountId));
  }

  @Patch()
  @MemberOnly('owner')
  @Repeatable()
  @ApiOperation({ summary: 'Change the account', description: 'Omitted fields keep their value.' })
  @ApiOkResponse({ description: 'The changed account.', type: AccountDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'INVALID_ACCOUNT_KEY', 'INSUFFICIENT_SCOPE', ...REPEAT_PROBLEMS)
  async updateAccount(@Write() write: AccountWrite, @Body() body: UpdateAccountDto): Promise<AccountDto> {
    return AccountDto.from(await this.accounts.update(UpdateAccountDto.toChanges(body), write));
  }
}
