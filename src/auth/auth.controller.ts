import { Body, Controller, Get, HttpCode, Ip, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { CurrentCaller, RefreshTokenOnly } from './access.js';
import { CreateTokensDto, TokenPairDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';
import { type Caller, TokenService } from './token.service.js';

@ApiTags('Auth')
@Controller('api/v1/auth')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly tokens: TokenService,
  ) {}

  @Post('create_tokens')
  @HttpCode(200)
  @RateLimited('login')
  @Public()
  @ApiOperation({
    summary: 'Create tokens',
    description:
      'Logs in. The access token opens the owner operations for one hour; the refresh token gives new pairs for 30 days. A wrong email and a wrong password get the same answer in the same time. Repeated failures are slowed (429 with `Retry-After`) by address, and by address and email; failures at other addresses do not count. Passwords are verified a few at a time; when too many logins wait, the answer is 503.',
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
      'Send the **refresh** token as bearer; the answer is a new pair. A refresh token is used once. If the answer was lost, the same request within 10 seconds gives the same pair again. Any later reuse ends that login, because someone else may hold its tokens (RFC 9700): all its refresh tokens become invalid, and an access token issued before stays valid until it expires. A login ends after 90 days, however often it is renewed.',
  })
  @ApiOkResponse({ description: 'The next pair of tokens.', type: TokenPairDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async refreshAccessToken(@CurrentCaller() caller: Caller): Promise<TokenPairDto> {
    return TokenPairDto.from(await this.tokens.renew(caller.claims));
  }
}
