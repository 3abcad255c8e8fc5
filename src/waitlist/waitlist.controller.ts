import { Body, Controller, Delete, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OwnerOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../auth/token.strategy.js';
import { ApiProblems } from '../platform/http/api-problems.js';
import { IdParam } from '../platform/http/id-param.js';
import {
  ApiKeyDto,
  CreatedWaitlistDto,
  CreateWaitlistDto,
  UpdatedWaitlistDto,
  UpdateWaitlistDto,
  WaitlistDto,
} from './waitlist.dto.js';
import { WaitlistService } from './waitlist.service.js';

@ApiTags('Waitlist')
@OwnerOnly()
@Controller('api/v1/waitlist')
export class WaitlistController {
  constructor(private readonly waitlists: WaitlistService) {}

  @Post()
  @ApiOperation({ summary: 'Create a waitlist' })
  @ApiCreatedResponse({ type: CreatedWaitlistDto })
  @ApiProblems(400, 401, 413, 415)
  async createWaitlist(
    @CurrentCaller() { account }: Caller,
    @Body() body: CreateWaitlistDto,
  ): Promise<CreatedWaitlistDto> {
    const { waitlist, apiKey } = await this.waitlists.create(account.id, CreateWaitlistDto.toSettings(body));
    return CreatedWaitlistDto.withKey(waitlist, apiKey);
  }

  @Get()
  @ApiOperation({ summary: 'List my waitlists' })
  @ApiOkResponse({ type: [WaitlistDto] })
  @ApiProblems(401)
  async listWaitlists(@CurrentCaller() { account }: Caller): Promise<WaitlistDto[]> {
    const waitlists = await this.waitlists.list(account.id);
    return waitlists.map((waitlist) => WaitlistDto.from(waitlist));
  }

  @Patch(':waitlist_id')
  @ApiOperation({ summary: 'Change a waitlist' })
  @ApiOkResponse({ type: UpdatedWaitlistDto })
  @ApiProblems(400, 401, 404, 413, 415)
  async updateWaitlist(
    @CurrentCaller() { account }: Caller,
    @IdParam('waitlist_id') id: number,
    @Body() body: UpdateWaitlistDto,
  ): Promise<UpdatedWaitlistDto> {
    const { waitlist, recordsMoved } = await this.waitlists.update(account.id, id, CreateWaitlistDto.toSettings(body));
    return UpdatedWaitlistDto.afterChange(waitlist, recordsMoved);
  }

  @Delete(':waitlist_id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a waitlist and its records' })
  @ApiNoContentResponse()
  @ApiProblems(400, 401, 404)
  async deleteWaitlist(@CurrentCaller() { account }: Caller, @IdParam('waitlist_id') id: number): Promise<void> {
    await this.waitlists.delete(account.id, id);
  }

  @Post(':waitlist_id/api_key')
  @ApiOperation({ summary: "Replace a waitlist's API key" })
  @ApiCreatedResponse({ type: ApiKeyDto })
  @ApiProblems(400, 401, 404)
  async replaceApiKey(@CurrentCaller() { account }: Caller, @IdParam('waitlist_id') id: number): Promise<ApiKeyDto> {
    return { api_key: await this.waitlists.renewApiKey(account.id, id) };
  }
}
