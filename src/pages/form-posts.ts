import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Fault, PublicWaitlist, Values } from '../../web/page/model.js';
import type { TextKey } from '../../web/page/texts.js';
import { parseId } from '../platform/contract/formats.js';
import { prefersHtml } from '../platform/http/accept.js';
import { isFromPage } from '../platform/http/form-bodies.js';
import { Problem } from '../platform/problems/problem.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import type { Question } from '../queue/settings/waitlist.entity.js';
import { WaitlistNameService } from '../waitlist/waitlist-name.service.js';
import type { Page } from './document.js';
import { HostedPage, idOf, LOOKUP_ROUTE } from './hosted-page.js';
import { type DeadLink, messagePage, type Sent } from './views.js';

const DIGITS = /^\d{1,16}$/;
const SIGNUP_PATH = '/api/v1/signup';
const API_PATH = /^\/+api(?:[/?]|$)/i;

type Form = NonNullable<FastifyRequest['form']>;
const DEAD_LINKS: Readonly<Record<string, DeadLink>> = {
  LINK_NOT_FOUND: 'link_not_found_text',
  LEAVE_LINK_NOT_FOUND: 'leave_link_not_found_text',
  OFFER_NOT_FOUND: 'offer_not_found_text',
};

/** The parts of an answer of the API that a page shows. */
interface Answer {
  readonly uuid: string;
  readonly waitlist_id: number;
  readonly status: number;
  readonly error_code: string;
  readonly errors?: readonly Fault[];
}

/**
 * Lets pages without a script use the API: a form is read as the operation's JSON, under its rules, and the answer
 * becomes a page.
 */
@Injectable()
export class FormPosts {
  constructor(
    private readonly page: HostedPage,
    private readonly names: WaitlistNameService,
    private readonly reader: QueueReader,
  ) {}

  addHooks(fastify: FastifyInstance): void {
    // With callbacks, because every request passes here: a promise each would cost lookups half a percent.
    fastify.addHook('preHandler', (request, reply, done) => {
      const page = this.pageToOpen(request);
      if (page !== null) return void reply.code(303).header('location', page).send();
      if (!request.form) return done();
      this.withAnswers(request.body as Record<string, unknown>).then((body) => {
        request.body = body;
        done();
      }, done);
    });
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const { isPage = false } = request.routeOptions.config;
      const isProblem = String(reply.getHeader('content-type')).startsWith('application/problem+json');
      // Routes of pages answer with pages, except for their problems; an operation answers pages that have no script.
      const isAnswered = isPage || isUnknownPage(request) ? !isProblem : !isFromPage(request);
      if (isAnswered) return done(null, payload);
      const answer = JSON.parse(String(payload)) as Answer;
      if (!isProblem) return done(null, this.seeStatus(reply, answer));
      this.problemPage(request, reply, answer).then((page) => done(null, page), done);
    });
  }

  /**
   * The page of the waitlist, for a browser that opens the address of a form again, where its faults were shown. Null
   * for every other request.
   */
  private pageToOpen(request: FastifyRequest): string | null {
    if (request.method !== 'GET' || request.routeOptions.url !== SIGNUP_PATH) return null;
    const { waitlist_id: name, email, phone, uuid } = request.query as Readonly<Record<string, unknown>>;
    const id = typeof name === 'string' ? parseId(name) : null;
    if (id === null || [email, phone, uuid].some((key) => key !== undefined) || !prefersHtml(request)) return null;
    return this.page.pagePath(id);
  }

  private seeStatus(reply: FastifyReply, { waitlist_id, uuid }: Answer): string {
    void reply.code(303).header('location', this.page.statusPath(waitlist_id, uuid)).removeHeader('content-type');
    return '';
  }

  private async problemPage(request: FastifyRequest, reply: FastifyReply, answer: Answer): Promise<string> {
    // A service that is overloaded, or without its database, reads nothing more. Beyond a limit, it reads only to show
    // a form again.
    const isReadable = answer.status < 500 && (answer.status !== 429 || request.form !== undefined);
    const own = isReadable ? await this.pageOfWaitlist(request, answer) : null;
    return this.page.render(reply, own ?? pageOf(answer));
  }

  /** Null where no public waitlist is concerned. */
  private async pageOfWaitlist(
    { form, params, url, routeOptions }: FastifyRequest,
    answer: Answer,
  ): Promise<Page | null> {
    const { waitlist_id: name } = params as { readonly waitlist_id?: string };
    try {
      if (name === undefined) return form ? await this.formAgain(form, answer) : null;
      const id = idOf(name);
      if (form && routeOptions.url === LOOKUP_ROUTE) return await this.page.lookupPage(id, url, sentOf(form, answer));
      const deadLink = DEAD_LINKS[answer.error_code];
      if (deadLink) return await this.page.linkNotFound(id, deadLink);
      return pageOf(answer, await this.page.viewOf(id));
    } catch (error) {
      if (error instanceof Problem) return null;
      throw error;
    }
  }

  /** Null where there is no form to show. */
  private async formAgain(form: Form, answer: Answer): Promise<Page | null> {
    const sent = sentOf(form, answer);
    const id = await this.waitlistOf(sent.values.waitlist_id ?? sent.values.api_key);
    return id === null ? null : this.page.formAgain(id, sent);
  }

  /** `answers[0]` answers the question whose id is `question_ids[0]`; without that, the first. */
  private async withAnswers(body: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { answers, question_ids: ids, ...fields } = body;
    if (!isObject(answers)) return body;
    const questions = await this.questionsOf(body.waitlist_id ?? body.api_key);
    const given = Object.entries(answers).map(([index, value]) => {
      const id = isObject(ids) ? ids[index] : undefined;
      const question = questions.find((candidate, at) => (id ? String(candidate.id) === id : String(at) === index));
      // No question has the empty text: the operation refuses the answer to one that is gone.
      return { question_value: question?.text ?? '', answer_value: value };
    });
    return { ...fields, answers: given };
  }

  /** None for a waitlist that is not there: the operation refuses that, and counts it. */
  private async questionsOf(name: unknown): Promise<readonly Question[]> {
    try {
      const id = await this.waitlistOf(name);
      return id === null ? [] : (await this.reader.getWaitlist(id)).questions;
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return [];
      throw error;
    }
  }

  /** @throws Problem `WAITLIST_NOT_FOUND` */
  private async waitlistOf(name: unknown): Promise<number | null> {
    if (typeof name !== 'string') return null;
    return this.names.idOf({ waitlist_id: DIGITS.test(name) ? Number(name) : name });
  }
}

/** Whether a browser asks for an address that nothing of the service has. */
function isUnknownPage(request: FastifyRequest): boolean {
  return request.is404 && !API_PATH.test(request.url) && prefersHtml(request);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sentOf(form: Form, answer: Answer): Sent {
  const values: Values = Object.fromEntries(Array.from(form, ([name, value]) => [name, [value].flat()[0] ?? '']));
  return { values, faults: answer.errors ?? [], message: messageOf(answer) };
}

/** Null where the faults of the fields say it. */
function messageOf({ error_code, status, errors = [] }: Answer): TextKey | null {
  if (error_code === 'WAITLIST_CLOSED' || error_code === 'NO_WAITER_FOUND') return 'not_found';
  if (status === 429) return 'too_many_requests';
  if (status >= 500) return 'unavailable';
  return errors.length > 0 ? null : 'invalid';
}

function pageOf(answer: Answer, waitlist: PublicWaitlist | null = null): Page {
  const deadLink = DEAD_LINKS[answer.error_code];
  if (deadLink) return messagePage('link_not_found', deadLink, waitlist);
  if (answer.status === 404) return messagePage('page_not_found', 'page_not_found_text', waitlist);
  return messagePage(messageOf(answer) ?? 'errors', null, waitlist);
}
