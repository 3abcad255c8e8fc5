import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { PublicWaitlist } from '../../web/page/model.js';
import { languageOf, pluralOf } from '../../web/page/texts.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { isUuid, parseId } from '../platform/contract/formats.js';
import { safeHeaders } from '../platform/http/headers.js';
import { CSS, HTML, JAVASCRIPT, serveFile } from '../platform/http/static-files.js';
import { Problem } from '../platform/problems/problem.js';
import { LeavingService } from '../mail/leaving.service.js';
import { referralLink, referrerTokens } from '../queue/record/referral-link.js';
import { SignupService } from '../signup/signup.service.js';
import { LeaderboardService } from '../waitlist/leaderboard.service.js';
import { PageViewService } from '../waitlist/page-view.service.js';
import { type Waitlist, WaitlistService } from '../waitlist/waitlist.service.js';
import { type Assets, type Page, type Rendered, renderPage } from './document.js';
import { leadersOf, placeOf, publicWaitlist, statusOf } from './public-view.dto.js';
import {
  type DeadLink,
  type FormFacts,
  formPage,
  linkNotFoundPage,
  lookupPage,
  type Sent,
  statusPage,
} from './views.js';

/** Where those who have joined find their private page. */
export const LOOKUP_ROUTE = '/waitlist/:waitlist_id/find';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** People open the route in a browser: its problems are pages too. */
    isPage?: boolean;
  }
}

const require = createRequire(import.meta.url);
/** As a signup takes it. */
const REFERRAL_LINK_LENGTH_MAX = 2048;

/** Forms that were rendered last. To render one takes twice as long as all else that a view needs. */
const FORMS_MAX = 100;
/** They stand for what differs between the views of a rendered form. Nobody can write them into a text. */
const LINK = randomUUID();
const OPENED_AT = randomUUID();
const INVITER = randomUUID();
const COUNT = randomUUID();
/** The query of the page, which may name a referrer. */
const QUERY = randomUUID();

/** What was mailed just now. */
interface StatusQuery {
  readonly sent?: string;
  readonly leave?: string;
}

interface RenderedForm extends Rendered {
  /** Writes numbers as the language of the form does. */
  readonly numbers: Intl.NumberFormat;
}

/** The pages of a waitlist: the form, and the private page of each person who joined. */
@Injectable()
export class HostedPage {
  private readonly basePath: string;
  private readonly isLive: boolean;
  private assets!: Assets;
  private readonly forms = new LRUCache<string, RenderedForm>({ max: FORMS_MAX });

  constructor(
    @Inject(CONFIG) { basePath, liveConnectionsMax }: Config,
    private readonly waitlists: WaitlistService,
    private readonly signups: SignupService,
    private readonly leaderboards: LeaderboardService,
    private readonly views: PageViewService,
    private readonly leaving: LeavingService,
  ) {
    this.basePath = basePath;
    this.isLive = liveConnectionsMax > 0;
  }

  serve(fastify: FastifyInstance): void {
    this.assets = {
      css: this.serveAsset(fastify, 'page.css', CSS),
      script: this.serveAsset(fastify, 'page.js', JAVASCRIPT),
    };
    const page = { exposeHeadRoute: true, config: { rateLimited: 'public', isPage: true } } as const;
    fastify.get<{ Params: { waitlist_id: string } }>('/waitlist/:waitlist_id', page, async (request, reply) => {
      const name = request.params.waitlist_id;
      const id = parseId(name);
      const waitlist = await (id === null ? this.waitlists.getBySlug(name) : this.waitlists.getPublic(id));
      const { slug } = waitlist;
      if (name === String(slug ?? waitlist.id)) return this.showForm(request, reply, waitlist);
      // A cached redirect would loop once the waitlist returns to an earlier slug.
      reply.headers({ location: this.formPath(waitlist, request.url), 'cache-control': 'no-cache' });
      return reply.code(308).send();
    });
    fastify.get<{ Params: { waitlist_id: string } }>(LOOKUP_ROUTE, page, async ({ params, url }, reply) =>
      this.render(reply, await this.lookupPage(idOf(params.waitlist_id), url)),
    );
    const takesForms = { config: { ...page.config, takesForms: true } } as const;
    fastify.post<{ Params: { waitlist_id: string } }>(LOOKUP_ROUTE, takesForms, async (request, reply) =>
      reply
        .code(303)
        .header('location', await this.find(request, idOf(request.params.waitlist_id)))
        .send(),
    );
    fastify.get<{ Params: { waitlist_id: string; uuid: string }; Querystring: StatusQuery }>(
      '/waitlist/:waitlist_id/status/:uuid',
      page,
      async (request, reply) => this.showStatus(request, reply, idOf(request.params.waitlist_id)),
    );
  }

  /** The path of a waitlist's page, with the query of the requested URL. */
  private formPath({ id, slug }: Waitlist, url: string): string {
    return `${this.pagePath(slug ?? id)}${queryOf(url)}`;
  }

  /** Below the path of `PUBLIC_BASE_URL`, as the paths of private pages are. A page with a slug redirects there. */
  pagePath(name: number | string): string {
    return `${this.basePath}/waitlist/${name}`;
  }

  statusPath(waitlistId: number, uuid: string): string {
    return `${this.pagePath(waitlistId)}/status/${uuid}`;
  }

  verifyPath(waitlistId: number, token: string): string {
    return `${this.basePath}/waitlist/${waitlistId}/verify/${token}`;
  }

  leavePath(waitlistId: number, token: string): string {
    return `${this.basePath}/waitlist/${waitlistId}/leave/${token}`;
  }

  offerPath(waitlistId: number, code: string): string {
    return `${this.pagePath(waitlistId)}/offer/${code}`;
  }

  /** Null if the operator has turned live places off. */
  private eventsPath(waitlistId: number, uuid: string): string | null {
    if (!this.isLive) return null;
    return `${this.basePath}/api/v1/signup/events?waitlist_id=${waitlistId}&uuid=${uuid}`;
  }

  /** The form again, as it was sent. @throws Problem `WAITLIST_NOT_FOUND`, also for a waitlist that is not public */
  async formAgain(waitlistId: number, sent: Sent): Promise<Page> {
    const waitlist = await this.waitlists.getPublic(waitlistId);
    const { referral_link: link = waitlist.hostedPage, form_opened_at: openedAt = now() } = sent.values;
    return this.form(waitlist, link, openedAt, queryOf(link), sent);
  }

  /**
   * The form of those who have joined: empty, or as it was sent.
   * @throws Problem `WAITLIST_NOT_FOUND`, also for a waitlist that is not public
   */
  async lookupPage(waitlistId: number, url: string, sent: Sent | null = null): Promise<Page> {
    return this.lookup(await this.waitlists.getPublic(waitlistId), queryOf(url), sent);
  }

  /** The page of a dead link. @throws Problem `WAITLIST_NOT_FOUND`, also for a waitlist that is not public */
  async linkNotFound(waitlistId: number, more: DeadLink): Promise<Page> {
    return linkNotFoundPage(await this.viewOf(waitlistId), more, this.lookupPath(waitlistId, ''));
  }

  /** A waitlist as its pages show it. @throws Problem `WAITLIST_NOT_FOUND`, also for one that is not public */
  async viewOf(waitlistId: number): Promise<PublicWaitlist> {
    return publicWaitlist(await this.waitlists.getPublic(waitlistId), this.waitlists.sendsMail);
  }

  /** Sets the headers of a private page, which nobody keeps, and returns its HTML. */
  render(reply: FastifyReply, page: Page): string {
    return this.send(reply, renderPage(page, this.assets), { 'x-robots-tag': 'noindex' });
  }

  private send(reply: FastifyReply, { html, headers }: Rendered, cached: Readonly<Record<string, string>>): string {
    reply.headers({ ...headers, ...cached }).type(HTML);
    if (headers['x-frame-options'] === undefined) reply.removeHeader('x-frame-options');
    return html;
  }

  /**
   * The private page of a person, by their email or phone.
   * @throws Problem `INVALID_REQUEST`, `WAITLIST_NOT_FOUND`, `NO_WAITER_FOUND`, `TOO_MANY_MISSES`
   */
  private async find({ form, ip }: FastifyRequest, waitlistId: number): Promise<string> {
    const { id } = await this.waitlists.getPublic(waitlistId);
    const [email, phone] = ['email', 'phone'].map((name) => [form?.get(name)].flat()[0] ?? null);
    const sought = { email: email ?? null, phone: phone ?? null, uuid: null };
    const { waiter } = await this.signups.find({ waitlist_id: id }, sought, ip);
    return this.statusPath(id, waiter.uuid);
  }

  private async showForm(request: FastifyRequest, reply: FastifyReply, waitlist: Waitlist): Promise<string> {
    const { url, method, ip } = request;
    const { id, isClosed, display, active } = waitlist;
    if (method === 'GET') this.views.add(id);
    const asksInviter = Boolean(display.shows_inviter) && !isClosed;
    const inviter = asksInviter ? await this.signups.findInviter(id, url, ip) : null;
    const link = escaped(linkOf(waitlist, url));
    const query = escaped(queryOf(url));
    const { html, headers, numbers } = this.renderedForm(waitlist, inviter !== null);
    const opened = html
      .replace(LINK, () => link)
      .replace(OPENED_AT, now)
      .replace(QUERY, () => query)
      // An owner's text may have them more than once.
      .replaceAll(INVITER, () => escaped(inviter ?? ''))
      .replaceAll(COUNT, () => numbers.format(active));
    return this.send(reply, { html: opened, headers }, { 'cache-control': 'no-cache' });
  }

  /** With {@link LINK}, {@link QUERY}, {@link OPENED_AT}, {@link INVITER} and {@link COUNT} in place of the values. */
  private renderedForm(waitlist: Waitlist, isInvited: boolean): RenderedForm {
    const { id, slug, name, requiredContact, questions, isClosed, captcha, display, hidesCounts, active } = waitlist;
    const facts: FormFacts = {
      inviter: isInvited ? INVITER : null,
      inLine:
        hidesCounts || active === 0
          ? null
          : { plural: pluralOf(languageOf(display.lang ?? 'en'), active), count: COUNT },
    };
    const key = JSON.stringify([id, slug, name, requiredContact, questions, isClosed, captcha, display, facts]);
    let rendered = this.forms.get(key);
    if (!rendered) {
      const page = this.form(waitlist, LINK, OPENED_AT, QUERY, null, facts);
      rendered = { ...renderPage(page, this.assets), numbers: new Intl.NumberFormat(page.texts.lang) };
      this.forms.set(key, rendered);
    }
    return rendered;
  }

  private async showStatus(
    { params, query, ip }: FastifyRequest<{ Params: { uuid: string }; Querystring: StatusQuery }>,
    reply: FastifyReply,
    id: number,
  ): Promise<string> {
    const uuid = uuidOf(params.uuid);
    // Read first: if the place changes before the rest is read, an event tells the page.
    const place = await this.signups.findPlace({ waitlist_id: id }, uuid, ip);
    const found = await this.signups.find({ waitlist_id: id }, { email: null, phone: null, uuid }, ip);
    const waitlist = await this.waitlists.getForMembers(id);
    const shown = publicWaitlist(waitlist, this.waitlists.sendsMail);
    const hasLeaders = shown.uses_leaderboard && waitlist.isPublic;
    const leaders = hasLeaders ? await this.leaderboards.list(id, undefined) : [];
    const ownIndex = leaders.findIndex((leader) => leader.uuid === uuid);
    const status = statusOf(found);
    const canMail = this.leaving.canMail(found.waiter);
    const path = this.statusPath(id, uuid);
    const isOffered = status.status === 'offered';
    return this.render(
      reply,
      statusPage({
        waitlist: shown,
        frameOrigins: framesOf(waitlist),
        status,
        place: placeOf(place),
        events: this.eventsPath(id, uuid),
        leaders: leadersOf(leaders),
        ownIndex: ownIndex < 0 ? undefined : ownIndex,
        resendAction: isOffered ? (canMail ? `${path}/offer` : null) : `${path}/resend`,
        isResent: query.sent !== undefined,
        leaveAction: canMail ? `${path}/leave` : null,
        isLeaveSent: query.leave !== undefined,
      }),
    );
  }

  private form(
    waitlist: Waitlist,
    link: string,
    openedAt: string,
    query: string,
    sent: Sent | null,
    facts?: FormFacts,
  ): Page {
    if (waitlist.isClosed) return this.lookup(waitlist, '', sent);
    return formPage({
      waitlist: publicWaitlist(waitlist, this.waitlists.sendsMail),
      frameOrigins: framesOf(waitlist),
      url: waitlist.hostedPage,
      // Opened again after a fault, the address leads back to the page: see form-posts.ts.
      action: `${this.basePath}/api/v1/signup?waitlist_id=${waitlist.id}`,
      lookup: this.lookupPath(waitlist.id, query),
      referralLink: link,
      openedAt,
      sent,
      ...(facts && { facts }),
    });
  }

  private lookup(waitlist: Waitlist, query: string, sent: Sent | null): Page {
    const { id, slug, isClosed } = waitlist;
    return lookupPage({
      waitlist: publicWaitlist(waitlist, this.waitlists.sendsMail),
      frameOrigins: framesOf(waitlist),
      url: isClosed && sent === null ? waitlist.hostedPage : null,
      action: this.lookupPath(id, query),
      signup: isClosed ? null : `${this.pagePath(slug ?? id)}${query}`,
      sent,
    });
  }

  /** With the query of the signup page, so that whoever was referred and has not joined is referred still. */
  private lookupPath(waitlistId: number, query: string): string {
    return `${this.pagePath(waitlistId)}/find${query}`;
  }

  /** Returns the address of the file, with its hash. `npm run build:web` made the file. */
  private serveAsset(fastify: FastifyInstance, name: string, type: string): string {
    const path = `/waitlist/assets/${name}`;
    const text = readFileSync(require.resolve(`#web/page/${name}`));
    return `${this.basePath}${path}?v=${serveFile(fastify, path, { type, text, headers: safeHeaders({}) })}`;
  }
}

/** @throws Problem `WAITLIST_NOT_FOUND` */
export function idOf(text: string): number {
  const id = parseId(text);
  if (id === null) throw new Problem('WAITLIST_NOT_FOUND');
  return id;
}

/** @throws Problem `NO_WAITER_FOUND` */
export function uuidOf(text: string): string {
  if (!isUuid(text)) throw new Problem('NO_WAITER_FOUND');
  return text.toLowerCase();
}

/** The address of the page as it was opened. One that a signup would refuse keeps the likeliest token. */
function linkOf({ hostedPage }: Waitlist, url: string): string {
  const link = `${hostedPage}${queryOf(url)}`;
  if (link.length <= REFERRAL_LINK_LENGTH_MAX) return link;
  const [token] = referrerTokens(link);
  return token === undefined ? hostedPage : referralLink(hostedPage, token);
}

/** With its `?`; empty without one. */
function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}

function now(): string {
  return new Date().toISOString();
}

function framesOf({ display }: Waitlist): readonly string[] {
  return display.frame_origins ?? [];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
