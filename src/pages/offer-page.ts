import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { type LinkedOffer, OfferLinkService } from '../mail/offer-link.service.js';
import { offerRules } from '../queue/settings/offer-rules.js';
import { type Waitlist, WaitlistService } from '../waitlist/waitlist.service.js';
import { HostedPage, idOf, uuidOf } from './hosted-page.js';
import { publicWaitlist } from './public-view.dto.js';
import { offerPage } from './views.js';

interface Params {
  readonly waitlist_id: string;
  readonly code: string;
  readonly uuid: string;
}

/** The query parameter that hands the code to the owner's product. */
const PARAMETER = 'offer';
const PAGE = { rateLimited: 'public', isPage: true } as const;
const GET_OPTIONS: RouteShorthandOptions = { exposeHeadRoute: true, config: PAGE };
const POST_OPTIONS: RouteShorthandOptions = { config: { ...PAGE, takesForms: true } };

/** The page of an offer, with a button to accept it and one to decline, and the button that mails a new link. */
@Injectable()
export class OfferPage {
  constructor(
    private readonly page: HostedPage,
    private readonly waitlists: WaitlistService,
    private readonly links: OfferLinkService,
  ) {}

  serve(fastify: FastifyInstance): void {
    const link = '/waitlist/:waitlist_id/offer/:code';
    // An answer to an offer that has ended is a page at the address of the form; browsers load it again by GET.
    for (const path of [link, `${link}/accept`, `${link}/decline`])
      fastify.get<{ Params: Params }>(path, GET_OPTIONS, async ({ params, ip }, reply) => {
        const id = idOf(params.waitlist_id);
        return this.show(reply, id, params.code, await this.links.get(id, params.code, ip));
      });
    for (const [path, answer] of [
      ['accept', 'accepted'],
      ['decline', 'declined'],
    ] as const)
      fastify.post<{ Params: Params }>(`${link}/${path}`, POST_OPTIONS, (request, reply) =>
        this.answer(request, reply, answer),
      );
    fastify.post<{ Params: Params }>(
      '/waitlist/:waitlist_id/status/:uuid/offer',
      POST_OPTIONS,
      async (request, reply) => {
        const id = idOf(request.params.waitlist_id);
        const uuid = uuidOf(request.params.uuid);
        await this.links.mailTo(id, uuid, request);
        return seeOther(reply, `${this.page.statusPath(id, uuid)}?sent`);
      },
    );
  }

  private async answer(
    request: FastifyRequest<{ Params: Params }>,
    reply: FastifyReply,
    answer: 'accepted' | 'declined',
  ): Promise<FastifyReply | string> {
    const { waitlist_id, code } = request.params;
    const id = idOf(waitlist_id);
    const offer = await this.links.get(id, code, request.ip);
    const isOpen = offer.state === 'open';
    const state = isOpen ? await this.links.answer(id, code, answer, request) : offer.state;
    if (state === 'accepted' && answer === 'accepted') {
      const waitlist = await this.waitlists.getForMembers(id);
      return seeOther(reply, this.destinationOf(waitlist, code, offer));
    }
    // The page itself says what became of the offer. After a change it is loaded by GET, so it can be reloaded.
    return isOpen ? seeOther(reply, this.page.offerPath(id, code)) : this.show(reply, id, code, offer);
  }

  private async show(reply: FastifyReply, id: number, code: string, offer: LinkedOffer): Promise<string> {
    const waitlist = await this.waitlists.getForMembers(id);
    return this.page.render(
      reply,
      offerPage({
        waitlist: publicWaitlist(waitlist, this.waitlists.sendsMail),
        state: offer.state,
        until: offer.expiresAt,
        path: this.page.offerPath(id, code),
        privatePage: this.page.statusPath(id, offer.uuid),
        destination: this.destinationOf(waitlist, code, offer),
      }),
    );
  }

  /** Where an acceptance leads, with the code. */
  private destinationOf(waitlist: Waitlist, code: string, { uuid }: LinkedOffer): string {
    const url = offerRules(waitlist).url ?? waitlist.display.your_turn_url;
    if (!url) return `${this.page.statusPath(waitlist.id, uuid)}?${PARAMETER}=${code}`;
    const destination = new URL(url);
    // `searchParams` would encode the other parameters again.
    const others = destination.search
      .slice(1)
      .split('&')
      .filter((one) => one !== '' && !isCode(one));
    destination.search = [...others, `${PARAMETER}=${code}`].join('&');
    return destination.href;
  }
}

function isCode(parameter: string): boolean {
  return new URLSearchParams(parameter).has(PARAMETER);
}

function seeOther(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(303).header('location', location).send();
}
