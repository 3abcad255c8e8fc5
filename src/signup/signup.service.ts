import { Injectable } from '@nestjs/common';
import { isDisposable } from '../fraud/disposable.js';
import { foldedMailbox } from '../fraud/mailbox.js';
import { EnumerationLimit } from '../platform/limits/enumeration-limit.js';
import { Networks } from '../platform/limits/networks.js';
import { Problem } from '../platform/problems/problem.js';
import { contactFaults, contactKeys } from '../queue/record/contact.js';
import { dayOf } from '../queue/order/day-counts.js';
import { PlaceReader } from '../queue/read/place.reader.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import { referralTokenOf, referrerTokens } from '../queue/record/referral-link.js';
import { type Applicant, type ContactKeys, type Found, NO_CONTACT, type Trust } from '../queue/record/waiter.js';
import type { WaitlistName } from '../waitlist/waitlist-name.js';
import { WaitlistNameService } from '../waitlist/waitlist-name.service.js';
import { CaptchaService } from './captcha.service.js';
import { weeksBefore } from './estimate.js';
import { explain, type Place } from './place.js';

type Contact = Pick<Applicant, 'email' | 'phone'>;

/** A page shows no other first name to strangers: it could be an address or an advertisement. */
const SHOWN_NAME = /^\p{L}[\p{L}\p{M} '-]{0,29}$/u;

/** A request to join, as it came. */
export interface SignupRequest extends Omit<Applicant, 'keys' | 'referrerTokens' | 'region' | 'trust'> {
  readonly waitlist: WaitlistName;
  /** The address of the page where the person signs up. */
  readonly referralLink: string | null;
  // Pages add the rest; programs leave it out.
  readonly formOpenedAt: Date | null;
  readonly isHoneypotFilled: boolean;
  readonly captchaToken: string | null;
}

/**
 * What a lookup asks for. With a uuid, email and phone are ignored; otherwise anyone with one uuid could test other
 * people's emails.
 */
export interface Sought extends Contact {
  readonly uuid: string | null;
}

/** A place, and the `revision` of its waitlist when it was read. */
export interface FoundPlace {
  readonly waitlistId: number;
  readonly uuid: string;
  readonly revision: number;
  readonly place: Place;
  readonly revealsRecord: boolean;
}

/** The public act of joining. */
@Injectable()
export class SignupService {
  constructor(
    private readonly writer: QueueWriter,
    private readonly reader: QueueReader,
    private readonly places: PlaceReader,
    private readonly misses: EnumerationLimit,
    private readonly names: WaitlistNameService,
    private readonly captchas: CaptchaService,
    private readonly networks: Networks,
  ) {}

  /**
   * Joins a waitlist, or finds the record that has this email or phone already, unchanged. A refusal by the waitlist's
   * rules counts as a miss of the caller's address, as does a known phone sent with an unknown email.
   * @throws `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED`, `WAITLIST_NOT_FOUND`, `TOO_MANY_MISSES`
   */
  async join(request: SignupRequest, address: string): Promise<Found> {
    return this.misses.limit(address, this.joinUnlimited(request, address).then(withMisses));
  }

  /**
   * Finds a record by its uuid, or by its email or phone; blank text counts as not given. Finding none counts as a miss
   * of the caller's address, as does a known phone sent with an unknown email.
   * @throws Problem `INVALID_REQUEST` for a phone that is invalid in the waitlist's region, `WAITLIST_NOT_FOUND`,
   * `NO_WAITER_FOUND`, `TOO_MANY_MISSES`
   */
  async find(waitlist: WaitlistName, sought: Sought, address: string): Promise<Found> {
    return this.misses.limit(address, this.findUnlimited(waitlist, sought).then(withMisses));
  }

  /**
   * Finds the place of a record and what explains it. Finding none counts as a miss of the caller's address.
   * @throws Problem `WAITLIST_NOT_FOUND`, `NO_WAITER_FOUND`, `TOO_MANY_MISSES`
   */
  async findPlace(waitlist: WaitlistName, uuid: string, address: string): Promise<FoundPlace> {
    return this.misses.limit(address, this.findPlaceUnlimited(waitlist, uuid));
  }

  /**
   * The first name of the person whose referral link it is, if their email is verified and a page may show the name;
   * null otherwise, without a token, and beyond the limit of lookups. An unknown token counts as a miss of the caller's
   * address.
   */
  async findInviter(waitlistId: number, link: string, address: string): Promise<string | null> {
    const token = referralTokenOf(link);
    if (token === null) return null;
    try {
      const { referrer } = await this.misses.limit(address, this.findReferrer(waitlistId, token));
      const name = referrer.firstName?.trim() ?? '';
      return referrer.verified && SHOWN_NAME.test(name) ? name : null;
    } catch (error) {
      if (error instanceof Problem && ['NO_WAITER_FOUND', 'TOO_MANY_MISSES'].includes(error.code)) return null;
      throw error;
    }
  }

  private async findPlaceUnlimited(name: WaitlistName, uuid: string): Promise<FoundPlace> {
    const waitlistId = await this.names.idOf(name);
    const now = new Date();
    const places = await this.places.find(waitlistId, uuid, weeksBefore(dayOf(now)));
    const standing = places.standings.get(uuid);
    if (!standing) throw new Problem('NO_WAITER_FOUND');
    const { revision } = places.waitlist;
    return { waitlistId, uuid, revision, place: explain(standing, places, now), revealsRecord: true };
  }

  private async findReferrer(waitlistId: number, token: string) {
    const referrer = await this.reader.findByToken(waitlistId, token);
    if (!referrer) throw new Problem('NO_WAITER_FOUND');
    return { referrer, revealsRecord: true };
  }

  private async joinUnlimited(request: SignupRequest, address: string): Promise<Found> {
    const { waitlist, referralLink, formOpenedAt, isHoneypotFilled, captchaToken, ...person } = request;
    const waitlistId = await this.names.idOf(waitlist);
    const region = await this.reader.regionFor(waitlistId, person.phone);
    const captcha = captchaToken === null ? null : await this.captchas.check(waitlistId, captchaToken);
    const keys = contactKeys(person, region);
    const { emailKey } = keys;
    const trust: Trust = {
      signals: {
        isDisposable: emailKey !== null && isDisposable(emailKey),
        secondsToFill: formOpenedAt && secondsSince(formOpenedAt),
        isHoneypotFilled,
        isCaptchaUnjudged: captcha === 'unjudged',
      },
      isCaptchaAccepted: captcha === 'passed' || captcha === 'unjudged',
      mailboxKey: foldedMailbox(emailKey),
      network: this.networks.hashOf(address),
    };
    return this.writer.join(waitlistId, {
      ...person,
      keys,
      referrerTokens: referrerTokens(referralLink ?? ''),
      region,
      trust,
    });
  }

  private async findUnlimited(name: WaitlistName, { uuid, ...contact }: Sought): Promise<Found> {
    const waitlistId = await this.names.idOf(name);
    const keys = uuid === null ? await this.keysOf(waitlistId, contact) : NO_CONTACT;
    const { waiter, waitlist } = await (uuid === null
      ? this.reader.find(waitlistId, keys)
      : this.reader.findByUuid(waitlistId, uuid));
    if (!waiter) throw new Problem('NO_WAITER_FOUND');
    return { waiter, waitlist, keys, isNew: false, revealsRecord: true };
  }

  /** @throws Problem `INVALID_REQUEST`, `WAITLIST_NOT_FOUND` */
  private async keysOf(waitlistId: number, contact: Contact): Promise<ContactKeys> {
    const region = await this.reader.regionFor(waitlistId, contact.phone);
    const keys = contactKeys(contact, region);
    const faults = contactFaults(contact, keys, region);
    if (faults.length > 0) throw Problem.invalid(faults);
    return keys;
  }
}

/**
 * Null if the time is in the future, by another clock. A time older than a day needs no rule of its own: only a fast
 * form is suspicious.
 */
function secondsSince(opened: Date): number | null {
  const elapsedMs = Date.now() - opened.getTime();
  return elapsedMs >= 0 ? elapsedMs / 1000 : null;
}

/**
 * Email and phone of different records count as a miss. Otherwise a caller could send their own phone with any email
 * and learn whether that email is known.
 */
function withMisses(found: Found): Found & { readonly revealsMiss: boolean } {
  const { waiter, waitlist, keys, isNew } = found;
  const isOther = (key: string | null, own: string | null) => !isNew && key !== null && key !== own;
  const revealsRecord = found.revealsRecord || isOther(keys.phoneKey, waiter.phoneKey);
  return { waiter, waitlist, keys, isNew, revealsRecord, revealsMiss: isOther(keys.emailKey, waiter.emailKey) };
}
