import { Body, Controller, Get, Header, HttpCode, Ip, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../platform/http/api-problems.js';
import { Public } from '../platform/http/public.js';
import { CurrentCaller, RefreshTokenOnly } from './auth.decorators.js';
import { CreateTokensDto, TokenPairDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';
import type { Caller } from './token.strategy.js';

@ApiTags('Auth')
@Controller('api/v1/auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Post('create_tokens')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ rateLimited: 'login' })
  @Public()
  @ApiOperation({ summary: 'Create tokens' })
  @ApiOkResponse({ type: TokenPairDto })
  @ApiProblems(400, 401, 413, 415, 429)
  async createTokens(@Body() body: CreateTokensDto, @Ip() address: string): Promise<TokenPairDto> {
    return TokenPairDto.from(await this.auth.logIn(body.email, body.password, address));
  }

  @Get('refresh_access_token')
  @Header('Cache-Control', 'no-store')
  @RefreshTokenOnly()
  @ApiOperation({ summary: 'Refresh the access token' })
  @ApiOkResponse({ type: TokenPairDto })
  @ApiProblems(401)
  async refreshAccessToken(@CurrentCaller() caller: Caller): Promise<TokenPairDto> {
    return TokenPairDto.from(await this.auth.renew(caller.claims));
  }
}
