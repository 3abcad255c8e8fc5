import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, RouteShorthandOptions } from 'fastify';
import { LeavingService } from '../mail/leaving.service.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { HostedPage, idOf, uuidOf } from './hosted-page.js';
import { publicWaitlist } from './public-view.dto.js';
import { leavePage, leftPage } from './views.js';

interface Params {
  readonly waitlist_id: string;
  readonly token: string;
  readonly uuid: string;
}

const PAGE = { rateLimited: 'public', isPage: true } as const;
const GET_OPTIONS: RouteShorthandOptions = { exposeHeadRoute: true, config: PAGE };
const POST_OPTIONS: RouteShorthandOptions = { config: { ...PAGE, takesForms: true } };

/** The page of a link to leave with its button, and the button of the private page that mails such a link. */
@Injectable()
export class LeavePage {
  constructor(
    private readonly page: HostedPage,
    private readonly waitlists: WaitlistService,
    private readonly leaving: LeavingService,
  ) {}

  serve(fastify: FastifyInstance): void {
    const link = '/waitlist/:waitlist_id/leave/:token';
    fastify.get<{ Params: Params }>(link, GET_OPTIONS, async (request, reply) => {
      const { waitlist_id, token } = request.params;
      const id = idOf(waitlist_id);
      const isGone = await this.leaving.isGone(id, token, request.ip);
      const waitlist = publicWaitlist(await this.waitlists.getForMembers(id), this.waitlists.sendsMail);
      return this.page.render(reply, isGone ? leftPage(waitlist) : leavePage(waitlist, this.page.leavePath(id, token)));
    });
    // The page shows by itself that the person is off the list.
    fastify.post<{ Params: Params }>(link, POST_OPTIONS, async (request, reply) => {
      const { waitlist_id, token } = request.params;
      const id = idOf(waitlist_id);
      await this.leaving.leave(id, token, request);
      return seeOther(reply, this.page.leavePath(id, token));
    });
    fastify.post<{ Params: Params }>(
      '/waitlist/:waitlist_id/status/:uuid/leave',
      POST_OPTIONS,
      async ({ params, ip }, reply) => {
        const id = idOf(params.waitlist_id);
        const uuid = uuidOf(params.uuid);
        await this.leaving.mailTo(id, uuid, ip);
        return seeOther(reply, `${this.page.statusPath(id, uuid)}?leave#leave`);
      },
    );
  }
}

function seeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).header('location', path).send();
}
