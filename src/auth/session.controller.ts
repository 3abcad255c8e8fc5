import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UuidParam } from '../platform/contract/fields.js';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CookieOnly, CookieOrNone, CurrentCaller, LoginOnly } from './access.js';
import { CreateTokensDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';
import { NeedsPasswordLogin } from './password-login.js';
import { AccessTokenDto, SessionDto } from './session.dto.js';
import { SESSION_PATH, SessionCookie } from './session-cookie.js';
import { SESSIONS_MAX, type TokenCaller, TokenService } from './token.service.js';

const COOKIE_HEADER = { 'Set-Cookie': { $ref: '#/components/headers/Set-Cookie' } };

/**
 * A "session" of the API is a login of a browser. Its page keeps the access token in memory, a cookie the refresh
 * token. The list has the logins of other clients too.
 */
@ApiTags('Session')
@ApiExtraModels(SessionDto)
@Controller(SESSION_PATH)
export class SessionController {
  constructor(
    private readonly auth: AuthService,
    private readonly tokens: TokenService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post()
  @HttpCode(200)
  @RateLimited('login')
  @Public()
  @NeedsPasswordLogin()
  @ApiOperation({
    summary: 'Log in with a browser',
    description:
      'As `POST /api/v1/auth/create_tokens`, with the same limits, but the refresh token is in a cookie that no script can read. It is sent to `/api/v1/auth/session` and below only, never from pages of other sites.',
  })
  @ApiOkResponse({ description: 'An access token.', type: AccessTokenDto, headers: COOKIE_HEADER })
  @ApiProblems('PASSWORD_LOGIN_OFF', 'WRONG_CREDENTIALS', 'OTP_REQUIRED', 'TOO_MANY_ATTEMPTS', 'SECRET_UNAVAILABLE')
  async createSession(
    @Body() body: CreateTokensDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccessTokenDto> {
    const pair = await this.auth.logIn(body.email, body.password, body.otp, request);
    this.cookie.set(reply, pair);
    return AccessTokenDto.from(pair);
  }

  @Post('refresh')
  @HttpCode(200)
  @CookieOnly()
  @ApiOperation({
    summary: 'Refresh the access token of a browser',
    description:
      'Exchanges the cookie for an access token and a new cookie. Only pages of this service may call it: `Sec-Fetch-Site` must be `same-origin`, or, where it is not sent, `Origin` must name the `Host` of the request. The rules of `GET /api/v1/auth/refresh_access_token` apply: within 60 seconds the same cookie gives the same tokens again, so several tabs may refresh at once; any other reuse ends the login.',
  })
  @ApiOkResponse({ description: 'The next access token.', type: AccessTokenDto, headers: COOKIE_HEADER })
  @ApiProblems('NO_SESSION', 'FOREIGN_ORIGIN')
  async refreshSession(
    @CurrentCaller() caller: TokenCaller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccessTokenDto> {
    const pair = await this.tokens.renew(caller, request, 'NO_SESSION');
    this.cookie.set(reply, pair);
    return AccessTokenDto.from(pair);
  }

  @Delete()
  @HttpCode(204)
  @CookieOrNone()
  @ApiOperation({
    summary: 'Log out a browser',
    description:
      'Ends the login of the cookie with all its tokens at once, and removes the cookie. Without the cookie of a live login it only removes it. Only pages of this service may call it.',
  })
  @ApiNoContentResponse({ description: 'Logged out.', headers: COOKIE_HEADER })
  @ApiProblems('FOREIGN_ORIGIN')
  async logOut(
    @CurrentCaller() caller: TokenCaller | null,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.tokens.logOut(caller, request);
    this.cookie.clear(reply);
  }

  @Get()
  @LoginOnly()
  @ApiOperation({
    summary: 'List logins',
    description: `Returns your live logins, those of \`POST /api/v1/auth/create_tokens\` included, the last used first, at most ${SESSIONS_MAX}.`,
  })
  @ApiOkResponse({
    description: 'The live logins.',
    schema: { type: 'array', maxItems: SESSIONS_MAX, items: { $ref: getSchemaPath(SessionDto) } },
  })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN')
  async listSessions(@CurrentCaller() { member, login }: TokenCaller): Promise<SessionDto[]> {
    const logins = await this.tokens.list(member.id);
    return logins.map((live) => SessionDto.from(live, login.id));
  }

  @Delete(':id')
  @LoginOnly()
  @HttpCode(204)
  @ApiOperation({
    summary: 'End a login',
    description: 'Ends one of your live logins with all its tokens at once. It may be that of the caller.',
  })
  @ApiNoContentResponse({ description: 'Ended.' })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'SESSION_NOT_FOUND')
  async endSession(
    @CurrentCaller() caller: TokenCaller,
    @UuidParam('id', 'The `id` of the login.') id: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    await this.tokens.end(caller, id, request);
  }
}
