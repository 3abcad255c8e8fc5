import { Body, Controller, Get, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { type Config, CONFIG } from '../platform/config/config.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { CurrentCaller, LoginOnly, RefreshTokenOnly } from './access.js';
import { ChangePasswordDto, CreateTokensDto, TokenPairDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';
import { NeedsPasswordLogin } from './password-login.js';
import { SignInMethodsDto } from './sso.dto.js';
import { type TokenCaller, TokenService } from './token.service.js';

@ApiTags('Auth')
@Controller('api/v1/auth')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly tokens: TokenService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get('methods')
  @Public()
  @ApiOperation({ summary: 'List the ways to log in', description: 'What a page for signing in offers.' })
  @ApiOkResponse({ description: 'The ways to log in.', type: SignInMethodsDto })
  getSignInMethods(): SignInMethodsDto {
    return SignInMethodsDto.from(this.config);
  }

  @Post('create_tokens')
  @HttpCode(200)
  @RateLimited('login')
  @Public()
  @NeedsPasswordLogin()
  @ApiOperation({
    summary: 'Create tokens',
    description:
      'Logs in. The access token is valid for one hour, the refresh token for 30 days. A wrong email and a wrong password get the same answer in the same time. If the password is right and you have set up a second factor, a login without `otp` gets 401 `OTP_REQUIRED`, and one with a wrong `otp` 401 `WRONG_CREDENTIALS`. After ten wrong ones in a row, from whatever addresses, none is judged for 15 minutes, then twice as long each time up to a day (429). After repeated failures, further attempts get 429 with `Retry-After`. Failures are counted by address, and by address and email. If too many logins are waiting, the answer is 503.',
  })
  @ApiOkResponse({ description: 'A new pair of tokens.', type: TokenPairDto })
  @ApiProblems('PASSWORD_LOGIN_OFF', 'WRONG_CREDENTIALS', 'OTP_REQUIRED', 'TOO_MANY_ATTEMPTS', 'SECRET_UNAVAILABLE')
  async createTokens(@Body() body: CreateTokensDto, @Req() request: FastifyRequest): Promise<TokenPairDto> {
    return TokenPairDto.from(await this.auth.logIn(body.email, body.password, body.otp, request));
  }

  @Get('refresh_access_token')
  @RefreshTokenOnly()
  @ApiOperation({
    summary: 'Refresh the access token',
    description:
      'Send the **refresh** token as the bearer token to get a new pair. A refresh token works once. If the answer was lost, the same request within 60 seconds returns the same pair, unless the new refresh token was used already. Any other reuse ends the login, because the token may have been stolen (RFC 9700): all its tokens, access tokens too, become invalid at once. A login ends after 90 days, even if it is refreshed.',
  })
  @ApiOkResponse({ description: 'The next pair of tokens.', type: TokenPairDto })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async refreshAccessToken(
    @CurrentCaller() caller: TokenCaller,
    @Req() request: FastifyRequest,
  ): Promise<TokenPairDto> {
    return TokenPairDto.from(await this.tokens.renew(caller, request, 'INVALID_TOKEN'));
  }

  @Post('password')
  @HttpCode(204)
  @RateLimited('login')
  @LoginOnly()
  @NeedsPasswordLogin()
  @ApiOperation({
    summary: 'Change the password',
    description:
      'Sets another password. All your other logins end at once; that of the access token goes on, and so do account keys. A wrong `current_password` counts as a failed login.',
  })
  @ApiNoContentResponse({ description: 'Changed.' })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'WRONG_PASSWORD', 'PASSWORD_LOGIN_OFF', 'TOO_MANY_ATTEMPTS')
  async changePassword(
    @CurrentCaller() caller: TokenCaller,
    @Body() { current_password, new_password }: ChangePasswordDto,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    await this.auth.changePassword(caller, current_password, new_password, request);
  }
}
