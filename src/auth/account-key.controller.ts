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
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CurrentCaller, OwnerOnly, TokenOnly } from './access.js';
import { AccountKeyDto, CreateAccountKeyDto, CreatedAccountKeyDto } from './account-key.dto.js';
import { ACCOUNT_KEYS_MAX, AccountKeyService } from './account-key.service.js';
import { REPEAT_PROBLEMS, Repeatable, Write } from './repeatable.js';
import type { Caller } from './token.service.js';

/** The operation that takes the id of a new key. */
const LINKS = { revokeAccountKey: { operationId: 'revokeAccountKey', parameters: { id: '$response.body#/id' } } };

@ApiTags('Account key')
@ApiExtraModels(AccountKeyDto)
@Controller('api/v1/api_key')
export class AccountKeyController {
  constructor(private readonly keys: AccountKeyService) {}

  @Post()
  @TokenOnly()
  @Repeatable()
  @ApiOperation({
    summary: 'Create an account key',
    description: `Returns a key for a program of yours, which sends it in the header \`api-key\` in place of an access token. It is shown only once; the service stores a hash of it. A key ends when it is revoked, when it expires, or when the operator disables the account; it outlives a change of password. It opens nothing under \`/api/v1/auth\`, and creates no keys. An account has at most ${ACCOUNT_KEYS_MAX} keys.`,
  })
  @ApiCreatedResponse({ description: 'The new key.', type: CreatedAccountKeyDto, links: LINKS })
  @ApiProblems(
    'MISSING_TOKEN',
    'INVALID_TOKEN',
    'INVALID_ACCOUNT_KEY',
    'INSUFFICIENT_SCOPE',
    'TOO_MANY_ACCOUNT_KEYS',
    ...REPEAT_PROBLEMS,
  )
  async createAccountKey(@Write() write: OwnerWrite, @Body() body: CreateAccountKeyDto): Promise<CreatedAccountKeyDto> {
    return CreatedAccountKeyDto.withSecret(await this.keys.create(CreateAccountKeyDto.toSettings(body), write));
  }

  @Get()
  @OwnerOnly()
  @ApiOperation({
    summary: 'List account keys',
    description: "Returns the account's keys, oldest first, expired ones included. The keys themselves are not shown.",
  })
  @ApiOkResponse({
    description: 'All keys of the account.',
    schema: { type: 'array', maxItems: ACCOUNT_KEYS_MAX, items: { $ref: getSchemaPath(AccountKeyDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async listAccountKeys(@CurrentCaller() { account }: Caller): Promise<AccountKeyDto[]> {
    const keys = await this.keys.list(account.id);
    return keys.map((key) => AccountKeyDto.from(key));
  }

  @Delete(':id')
  @OwnerOnly()
  @Repeatable()
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke an account key', description: 'Ends the key at once, permanently.' })
  @ApiNoContentResponse({ description: 'Revoked.' })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'ACCOUNT_KEY_NOT_FOUND', ...REPEAT_PROBLEMS)
  async revokeAccountKey(
    @Write() write: OwnerWrite,
    @IdParam('id', undefined, 'The id of the account key.') id: number,
  ): Promise<void> {
    await this.keys.revoke(id, write);
  }
}
