import { Body, Controller, Get, HttpCode, Ip, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { CurrentCaller, RefreshTokenOnly } from './auth.decorators.js';
import { CreateTokensDto, TokenPairDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';
import type { Caller } from './token.guard.js';

@ApiTags('Auth')
@Controller('api/v1/auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Post('create_tokens')
  @HttpCode(200)
  @RateLimited('login')
  @Public()
  @ApiOperation({
    summary: 'Create tokens',
    description:
      'Logs in. The access token opens the owner operations for an hour; the refresh token gives a new pair, for 30 days. A wrong email and a wrong password answer the same, in the same time. Who keeps failing waits longer and longer (429), by account and by address; what others fail at from elsewhere makes nobody wait. Passwords are verified a few at a time; where too many wait for it: 503.',
  })
  @ApiOkResponse({ description: 'A new pair of tokens.', type: TokenPairDto })
  @ApiProblems('WRONG_CREDENTIALS', 'TOO_MANY_ATTEMPTS')
  async createTokens(@Body() body: CreateTokensDto, @Ip() address: string): Promise<TokenPairDto> {
    return TokenPairDto.from(await this.auth.logIn(body.email, body.password, address));
  }

  @Get('refresh_access_token')
  @RefreshTokenOnly()
  @ApiOperation({
    summary: 'Refresh the access token',
    description:
      'Give the **refresh** token as bearer; the answer is a new pair. A refresh token is used once. Where the answer was lost, the same request within 10 seconds gives the same pair again; any later reuse ends that login, because someone else may hold its tokens (RFC 9700): none of its refresh tokens is taken again, and an access token given out before lives until it expires. However often it is renewed, a login ends after 90 days.',
  })
  @ApiOkResponse({ description: 'The next pair of tokens.', type: TokenPairDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async refreshAccessToken(@CurrentCaller() caller: Caller): Promise<TokenPairDto> {
    return TokenPairDto.from(await this.auth.renew(caller.claims));
  }
}
