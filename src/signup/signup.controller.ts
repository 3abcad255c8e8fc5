import { Body, Controller, Get, Header, HttpCode, Post, Query } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../platform/http/public.js';
import { ApiProblems } from '../platform/http/api-problems.js';
import { CreateSignupDto, GetSignupDto, SignupDto } from './signup.dto.js';
import { SignupService } from './signup.service.js';

@ApiTags('Signup')
@Public()
@ApiExtraModels(GetSignupDto)
@Controller('api/v1/signup')
export class SignupController {
  constructor(private readonly signups: SignupService) {}

  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ rateLimited: 'public' })
  @ApiOperation({
    summary: 'Create a Signup',
    description: 'An email or phone that is on the waitlist already gives the existing record, unchanged.',
  })
  @ApiOkResponse({ type: SignupDto })
  @ApiProblems(400, 404, 413, 415, 422, 429)
  async createSignup(@Body() body: CreateSignupDto): Promise<SignupDto> {
    return SignupDto.from(await this.signups.join(CreateSignupDto.toRequest(body)));
  }

  @Get()
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ rateLimited: 'public' })
  @ApiOperation({ summary: 'Get a Signup' })
  @ApiOkResponse({ type: SignupDto })
  @ApiProblems(400, 404, 429)
  async getSignup(@Query() { waitlist_id, email, phone }: GetSignupDto): Promise<SignupDto> {
    return SignupDto.from(await this.signups.find(waitlist_id, { email: email ?? null, phone: phone ?? null }));
  }
}
