import { Body, Controller, Get, HttpCode, Ip, Post, Query } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../platform/http/public.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { CreateSignupDto, GetSignupDto, SignupDto } from './signup.dto.js';
import { SignupService } from './signup.service.js';

@ApiTags('Signup')
@Public()
@Controller('api/v1/signup')
export class SignupController {
  constructor(private readonly signups: SignupService) {}

  @Post()
  @HttpCode(200)
  @RouteConfig({ rateLimited: 'public', takesForms: true })
  @ApiOperation({
    summary: 'Create a Signup',
    description:
      'Adds a record to the end of the queue. If the waitlist already has the email or phone, returns the existing record, unchanged. The status is 200 in both cases, so it does not reveal earlier signups. The owner decides which contact data and answers are required. If the record is new and the request breaks such a rule, the answer is 422 with the fields, and it counts as an unsuccessful lookup. So does 422 `WAITLIST_CLOSED`, with which a closed waitlist refuses new records.',
  })
  @ApiOkResponse({ description: 'The record, new or existing.', type: SignupDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'WAITLIST_RULE_BROKEN', 'WAITLIST_CLOSED', 'TOO_MANY_MISSES')
  async createSignup(@Body() body: CreateSignupDto, @Ip() address: string): Promise<SignupDto> {
    return SignupDto.from(await this.signups.join(CreateSignupDto.toRequest(body), address));
  }

  @Get()
  @RateLimited('public')
  @ApiOperation({
    summary: 'Get a Signup',
    description:
      'Finds a record by its email, phone or uuid. If email and phone are given and match different records, the email decides. The response shows only the contact data that the request had, and none with a `uuid`. Unsuccessful lookups are limited by address to a tenth of the request limit per minute. Beyond that, all lookups get 429 until the minute ends; signups are still accepted.',
  })
  @ApiOkResponse({ description: 'The record.', type: SignupDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'NO_WAITER_FOUND', 'TOO_MANY_MISSES')
  async getSignup(@Query() query: GetSignupDto, @Ip() address: string): Promise<SignupDto> {
    return SignupDto.from(await this.signups.find(query, GetSignupDto.toSought(query), address));
  }
}
