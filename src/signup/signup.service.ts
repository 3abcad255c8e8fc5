import { Injectable } from '@nestjs/common';
import { Problem } from '../platform/problems/problem.js';
import { QueueService } from '../queue/queue.service.js';
import type { ContactKeys, JsonObject, Newcomer, ReadRules, Waiter } from '../queue/waiter.js';
import { referrerTokens } from '../waitlist/referral-link.js';
import type { RequiredContact, WaitlistEntity } from '../waitlist/waitlist.entity.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { checkAnswers } from './answers.js';
import { type Contact, contactKeys, isInternational, knownKeys, said } from './contact.js';

/** What someone says when signing up, as it came; `answers` is held against the waitlist's questions. */
export interface SignupRequest {
  readonly waitlistId: number;
  readonly email: string | null;
  readonly phone: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly referralLink: string | null;
  readonly metadata: JsonObject | null;
  readonly answers: unknown;
}

/** A record, with by what its reader asked for it: only that much contact data may be shown. */
export interface Signup {
  readonly waiter: Waiter;
  readonly waitlist: WaitlistEntity;
  readonly asked: ContactKeys;
  /** Found, where a rule of the waitlist would not let a newcomer in. */
  readonly isLookup: boolean;
}

/** The public act of joining. */
@Injectable()
export class SignupService {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly queue: QueueService,
  ) {}

  /**
   * Joins a waitlist, or finds the record that has this email or phone already, unchanged.
   * @throws Problem `invalid`, `rule_broken` by the waitlist's own rules, `not_found` without such a waitlist
   */
  async join(request: SignupRequest): Promise<Signup> {
    const { waitlistId } = request;
    const region = await this.regionFor(request);
    try {
      const { waiter, newcomer, rules } = await this.queue.join(waitlistId, {
        ...knownKeys(request, region),
        referrerTokens: referrerTokens(request.referralLink ?? ''),
        textBytes: textBytes(request),
        readRules: this.rulesOf(waitlistId),
        admit: (waitlist) => admit(request, waitlist, region),
      });
      return { waiter, waitlist: rules, asked: newcomer, isLookup: false };
    } catch (error) {
      // Who joined under other rules is on the waitlist all the same.
      if (!(error instanceof Problem) || error.code !== 'WAITLIST_RULE_BROKEN') throw error;
      const waitlist = await this.waitlists.getPublic(waitlistId);
      const asked = contactKeys(collected(request, waitlist.requiredContact), region);
      const { waiter } = await this.queue.find(waitlistId, asked, this.rulesOf(waitlistId));
      if (!waiter) throw error;
      return { waiter, waitlist, asked, isLookup: true };
    }
  }

  /** @throws Problem `invalid` without contact data, `not_found` without such a waitlist or record */
  async find(waitlistId: number, contact: Contact): Promise<Signup> {
    const email = said(contact.email);
    const phone = said(contact.phone);
    if (email === null && phone === null)
      throw Problem.invalid([{ field: 'email', message: 'must be given, or a phone' }]);
    const asked = contactKeys({ email, phone }, await this.regionFor({ waitlistId, phone }));
    const { waiter, rules } = await this.queue.find(waitlistId, asked, this.rulesOf(waitlistId));
    if (!waiter) throw new Problem('NO_WAITER_FOUND');
    return { waiter, waitlist: rules, asked, isLookup: true };
  }

  private rulesOf(waitlistId: number): ReadRules<WaitlistEntity> {
    return (session) => this.waitlists.readPublic(session, waitlistId);
  }

  /** Where a phone is from that does not say so itself. @throws Problem `not_found` without such a waitlist */
  private async regionFor({ waitlistId, phone }: Pick<SignupRequest, 'waitlistId' | 'phone'>): Promise<string | null> {
    if (said(phone) === null || isInternational(phone ?? '')) return null;
    return (await this.waitlists.getPublic(waitlistId)).defaultRegion;
  }
}

/** @throws Problem `invalid`, `rule_broken` by the waitlist's own rules */
function admit(
  request: SignupRequest,
  { requiredContact, questions }: WaitlistEntity,
  region: string | null,
): Newcomer {
  const given = collected(request, requiredContact);
  const keys = contactKeys(given, region);
  requireGiven(given, requiredContact);
  return { ...given, ...keys, metadata: request.metadata, answers: checkAnswers(questions, request.answers) };
}

function textBytes({ metadata, answers = null }: SignupRequest): number {
  return metadata === null && answers === null ? 0 : Buffer.byteLength(JSON.stringify([metadata, answers]));
}

type Given = Pick<SignupRequest, 'email' | 'phone' | 'firstName' | 'lastName'>;

/** What the waitlist does not ask for is not kept. */
function collected(request: SignupRequest, required: RequiredContact): Given {
  return {
    email: required.email === 'off' ? null : said(request.email),
    phone: required.phone === 'off' ? null : said(request.phone),
    firstName: required.first_name === 'off' ? null : said(request.firstName),
    lastName: required.last_name === 'off' ? null : said(request.lastName),
  };
}

function requireGiven({ email, phone, firstName, lastName }: Given, required: RequiredContact): void {
  const given = { email, phone, first_name: firstName, last_name: lastName };
  const faults = Object.entries(given)
    .filter(([field, value]) => value === null && required[field as keyof RequiredContact] === 'required')
    .map(([field]) => ({ field, message: 'is required by this waitlist' }));
  if (faults.length === 0 && email === null && phone === null) {
    const field = required.email === 'off' ? 'phone' : 'email';
    faults.push({
      field,
      message:
        required.phone === 'off' || field === 'phone' ? 'is required by this waitlist' : 'must be given, or a phone',
    });
  }
  if (faults.length > 0) throw Problem.ruleBroken(faults);
}
