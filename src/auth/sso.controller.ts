import { Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SSO_ERRORS } from '../account/sso-refusal.js';
import { Public } from '../platform/http/public.js';
import { RateLimited } from '../platform/limits/rate-limits.js';
import { ApiProblems } from '../platform/problems/api-problems.js';
import { CurrentCaller, LoginOnly } from './access.js';
import { SessionCookie } from './session-cookie.js';
import { SSO_PATH, SsoCookie } from './sso-cookie.js';
import { SsoLinkDto, StartSingleSignOnDto } from './sso.dto.js';
import { PROVIDER_MS } from './sso-provider.js';
import { SsoService, type SsoStep } from './sso.service.js';
import type { TokenCaller } from './token.service.js';

const HEADERS = { 'Set-Cookie': { $ref: '#/components/headers/Sign-On-Cookie' } };
/** What a provider sends is ASCII (RFC 6749, appendix A). */
const fromProvider = (name: string, maxLength: number, description: string) => ({
  name,
  required: false,
  description,
  schema: { type: 'string', pattern: '^[ -~]*$', maxLength },
});

/** Addresses to which browsers go: those of single sign-on are followed, not called. */
@ApiTags('Session')
@Controller(SSO_PATH)
export class SsoController {
  private readonly follow = (reply: FastifyReply, { location, pending, login }: SsoStep) => {
    if (pending) this.cookie.set(reply, pending);
    if (pending === null) this.cookie.clear(reply);
    if (login) this.session.set(reply, login);
    void reply.code(pending ? 302 : 303).header('location', location);
  };

  constructor(
    private readonly sso: SsoService,
    private readonly cookie: SsoCookie,
    private readonly session: SessionCookie,
  ) {}

  @Get()
  @RouteConfig({ rateLimited: 'login', waitsMs: () => PROVIDER_MS })
  @Public()
  @ApiOperation({
    summary: 'Start a single sign-on',
    description:
      'A browser goes here to sign in at the provider of OpenID Connect, and comes back by the callback within ten minutes. A later sign-in of the browser takes the place of an earlier one.',
  })
  @ApiResponse({ status: 302, description: 'To the provider.', headers: HEADERS })
  @ApiResponse({
    status: 303,
    description: 'Back to the desk, with the `error` `SSO_UNAVAILABLE` or, for a link that has ended, `SSO_REFUSED`.',
  })
  @ApiProblems('NOT_FOUND')
  async startSingleSignOn(
    @Query() { link }: StartSingleSignOnDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    this.follow(reply, await this.sso.start(link, this.cookie.readLink(request), request));
  }

  @Get('callback')
  @RouteConfig({ rateLimited: 'login', waitsMs: () => PROVIDER_MS })
  @Public()
  @ApiOperation({
    summary: 'Finish a single sign-on',
    description: `The provider sends the browser here. Register it there: \`/${SSO_PATH}/callback\` below \`PUBLIC_BASE_URL\`.`,
  })
  @ApiQuery(fromProvider('code', 2048, 'The code of the provider.'))
  @ApiQuery(fromProvider('state', 128, 'As the start gave it to the provider.'))
  @ApiQuery(fromProvider('error', 100, 'Why the provider refuses.'))
  @ApiResponse({
    status: 303,
    description: `To the desk, with the cookie of \`POST /api/v1/auth/session\`; or to its page for signing in, with an \`error\`: ${SSO_ERRORS.map((code) => `\`${code}\``).join(', ')}. Somebody who linked an identity gets to the profile, with an \`error\` if it was refused.`,
    headers: HEADERS,
  })
  @ApiProblems('NOT_FOUND')
  async finishSingleSignOn(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const [, query = ''] = request.url.split(/\?(.*)/s);
    this.follow(reply, await this.sso.finish(query, this.cookie.read(request), request));
  }

  @Post('link')
  @HttpCode(200)
  @RateLimited('login')
  @LoginOnly()
  @ApiOperation({
    summary: 'Link an identity',
    description:
      'Returns an address for the browser that asks, and a cookie without which it does not work: there you sign in at the provider of single sign-on, whose identity is then yours, in place of an earlier one. It ends at the profile of the desk, with the `error` `SSO_REFUSED` if the identity is that of another member.',
  })
  @ApiOkResponse({ description: 'Where to go.', type: SsoLinkDto, headers: HEADERS })
  @ApiProblems('MISSING_TOKEN', 'INVALID_TOKEN', 'NOT_FOUND')
  async linkSingleSignOn(
    @CurrentCaller() caller: TokenCaller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SsoLinkDto> {
    const { url, link } = await this.sso.startLink(caller);
    this.cookie.setLink(reply, link);
    return SsoLinkDto.from(url);
  }
}
