import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, RouteShorthandOptions } from 'fastify';
import { VerificationService } from '../mail/verification.service.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { HostedPage, idOf, uuidOf } from './hosted-page.js';
import { publicWaitlist } from './public-view.dto.js';
import { verifyPage } from './views.js';

interface Params {
  readonly waitlist_id: string;
  readonly token: string;
  readonly uuid: string;
}

const PAGE = { rateLimited: 'public', isPage: true } as const;
const GET_OPTIONS: RouteShorthandOptions = { exposeHeadRoute: true, config: PAGE };
const POST_OPTIONS: RouteShorthandOptions = { config: { ...PAGE, takesForms: true } };

/** The page of a verification link with its button, and the button that asks for another mail. */
@Injectable()
export class VerifyPage {
  constructor(
    private readonly page: HostedPage,
    private readonly waitlists: WaitlistService,
    private readonly verification: VerificationService,
  ) {}

  serve(fastify: FastifyInstance): void {
    const link = '/waitlist/:waitlist_id/verify/:token';
    fastify.get<{ Params: Params }>(link, GET_OPTIONS, async ({ params, ip }, reply) => {
      const id = idOf(params.waitlist_id);
      const isUsed = await this.verification.isUsed(id, params.token, ip);
      const waitlist = publicWaitlist(await this.waitlists.getForMembers(id), this.waitlists.sendsMail);
      return this.page.render(reply, verifyPage({ waitlist, action: this.page.verifyPath(id, params.token), isUsed }));
    });
    fastify.post<{ Params: Params }>(link, POST_OPTIONS, async ({ params, ip }, reply) => {
      const id = idOf(params.waitlist_id);
      return seeOther(reply, this.page.statusPath(id, await this.verification.verify(id, params.token, ip)));
    });
    fastify.post<{ Params: Params }>(
      '/waitlist/:waitlist_id/status/:uuid/resend',
      POST_OPTIONS,
      async ({ params, ip }, reply) => {
        const id = idOf(params.waitlist_id);
        const uuid = uuidOf(params.uuid);
        await this.verification.resendTo(id, uuid, ip);
        return seeOther(reply, `${this.page.statusPath(id, uuid)}?sent`);
      },
    );
  }
}

function seeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).header('location', path).send();
}
