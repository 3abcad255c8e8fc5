import { Body, Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { IdParam } from '../platform/contract/fields.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { ACCOUNT_KEYS_MAX, AccountKeyService } from '../account/account-key.service.js';
import { CurrentCaller, MemberOnly, MemberOrKey } from './access.js';
import { AccountKeyDto, CreateAccountKeyDto, CreatedAccountKeyDto } from './account-key.dto.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from './repeatable.js';
import type { Caller } from './caller.js';

/** The operation that takes the id of a new key. */
const LINKS = { revokeAccountKey: { operationId: 'revokeAccountKey', parameters: { id: '$response.body#/id' } } };

@ApiTags('Account key')
@ApiExtraModels(AccountKeyDto)
@Controller('api/v1/api_key')
export class AccountKeyController {
  constructor(private readonly keys: AccountKeyService) {}

  @Post()
  @MemberOnly('owner')
  @Repeatable()
  @ApiOperation({
    summary: 'Create an account key',
    description: `Returns a key for a program of yours, which sends it in the header \`api-key\` in place of an access token. It is shown only once; the service stores a hash of it. A key ends when it is revoked, when it expires, or when the operator disables the account; it outlives the member who made it and their password. It opens nothing under \`/api/v1/auth\`, and neither creates keys nor shows or changes members. A key with \`waitlist_ids\` opens these waitlists only, and neither makes waitlists nor lists or revokes keys; others are not found. An account has at most ${ACCOUNT_KEYS_MAX} keys.`,
  })
  @ApiCreatedResponse({ description: 'The new key.', type: CreatedAccountKeyDto, links: LINKS })
  @ApiProblems(
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'INVALID_ACCOUNT_KEY',
    'INSUFFICIENT_SCOPE',
    'WAITLIST_NOT_FOUND',
    'TOO_MANY_ACCOUNT_KEYS',
    ...REPEAT_PROBLEMS,
  )
  async createAccountKey(
    @Write() write: AccountWrite,
    @Body() body: CreateAccountKeyDto,
  ): Promise<CreatedAccountKeyDto> {
    return CreatedAccountKeyDto.withSecret(await this.keys.create(CreateAccountKeyDto.toSettings(body), write));
  }

  @Get()
  @MemberOrKey({ role: 'owner', scope: 'read', isOfAccount: true })
  @ApiOperation({
    summary: 'List account keys',
    description:
      "Returns the account's keys, oldest first, expired ones included. The keys themselves are not shown. A key with `waitlist_ids` may not call this.",
  })
  @ApiOkResponse({
    description: 'All keys of the account.',
    schema: { type: 'array', maxItems: ACCOUNT_KEYS_MAX, items: { $ref: getSchemaPath(AccountKeyDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'INSUFFICIENT_SCOPE')
  async listAccountKeys(@CurrentCaller() { accountId }: Caller): Promise<AccountKeyDto[]> {
    const keys = await this.keys.list(accountId);
    return keys.map((key) => AccountKeyDto.from(key));
  }

  @Delete(':id')
  @MemberOrKey({ role: 'owner', scope: 'manage', isOfAccount: true })
  @Repeatable()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Revoke an account key',
    description: 'Ends the key at once, permanently. A key with `waitlist_ids` may not call this.',
  })
  @ApiNoContentResponse({ description: 'Revoked.' })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'ACCOUNT_KEY_NOT_FOUND', ...REPEAT_PROBLEMS)
  async revokeAccountKey(
    @Write() write: AccountWrite,
    @IdParam('id', undefined, 'The id of the account key.') id: number,
  ): Promise<void> {
    await this.keys.revoke(id, write);
  }
}
