import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
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
  @RateLimited('lookup')
  @ApiOperation({
    summary: 'Create a Signup',
    description:
      "Joins a waitlist, at its end. An email or phone that is on it already gives the existing record, unchanged; the answer is 200 either way, so that it does not tell who had signed up before. What the waitlist requires (an email, at first) and what it asks is its owner's choice; whatever breaks such a rule is a 422 that names the field. Those count as lookups that found nobody.",
  })
  @ApiOkResponse({ description: 'The record, new or existing.', type: SignupDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'WAITLIST_RULE_BROKEN')
  async createSignup(@Body() body: CreateSignupDto, @Req() request: FastifyRequest): Promise<SignupDto> {
    const signup = await this.signups.join(CreateSignupDto.toRequest(body));
    request.isLookup = signup.isLookup;
    return SignupDto.from(signup);
  }

  @Get()
  @RateLimited('lookup')
  @ApiOperation({
    summary: 'Get a Signup',
    description:
      'Finds a record by its email or phone; one of them must be given. Where both are and match two records, the one of the email is returned. Only the contact data that this call submitted is shown. Lookups that find nobody are limited by address, at a tenth of the requests: once they are used up, any lookup is a 429 until the minute is over, whether it would find somebody or not; signups go on.',
  })
  @ApiOkResponse({ description: 'The record as it stands now.', type: SignupDto })
  @ApiProblems('WAITLIST_NOT_FOUND', 'NO_WAITER_FOUND')
  async getSignup(@Query() { waitlist_id, email, phone }: GetSignupDto): Promise<SignupDto> {
    return SignupDto.from(await this.signups.find(waitlist_id, { email: email ?? null, phone: phone ?? null }));
  }
}
