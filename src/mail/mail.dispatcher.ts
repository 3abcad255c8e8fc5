import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { BackgroundTask, BackgroundTasks } from '../platform/background-task.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { mapped, type Query, type Session, together } from '../platform/database/session.js';
import { Sweeper } from '../platform/database/sweeper.js';
import { keyedQueue } from '../platform/limits/bounded-queue.js';
import { Turns } from '../platform/limits/turns.js';
import { hashKey, newToken } from '../platform/secrets/random-key.js';
import { safeError } from '../platform/problems/problem.filter.js';
import { isUnavailable, unlessDeleted } from '../platform/problems/problem.js';
import { MAIL_KINDS, type MailEntity } from '../outbox/mail.entity.js';
import { LeaveLinkStore } from '../outbox/leave-link.store.js';
import { OutboxSignal } from '../outbox/outbox.signal.js';
import { retryDelayMs } from '../outbox/retry-delay.js';
import type { VerificationLinkEntity } from '../outbox/verification-link.entity.js';
import { VerificationLinkStore } from '../outbox/verification-link.store.js';
import { endOf, type Offer, reminderAt, stateAt } from '../queue/offers/offer.js';
import { OfferReader } from '../queue/offers/offer.reader.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { beginOffer } from '../queue/write/commands/time-offers.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import { nonBlank } from '../queue/record/contact.js';
import { referralLink, signupPage } from '../queue/record/referral-link.js';
import { isLetIn } from '../queue/record/waiter.js';
import { showsPlace } from '../queue/settings/mail-words.js';
import { PENDING_KEPT_MS } from '../queue/maintenance/pending-sweeper.js';
import { type Bound, MailBounds } from './mail-bounds.js';
import {
  leaveFooter,
  leaveMail,
  offerMail,
  offerReminderMail,
  sampleMail,
  signupMail,
  verificationMail,
  webhookDisabledMail,
  welcomeMail,
  yourTurnMail,
} from './mail-texts.js';
import {
  type ActiveMember,
  type DueKind,
  type DueKinds,
  DueMailStore,
  type MailingWaitlist,
  type Recipient,
} from './due-mail.store.js';
import { MailMetrics } from './mail.metrics.js';
import { CONNECTIONS_MAX, LEASE_MS, MailSender } from './mail.sender.js';
import { type Content, type LeaveFooter, render } from './mail-layout.js';
import { type Attempt, MemberMails } from './member-mails.js';
import { WelcomeMaker } from './welcome.maker.js';

/** How often each process looks for mails that are due. */
const POLL_MS = 1_000;
/** Between two claims. One of a single mail costs as much as one of many, and each commit waits for the disk. */
const CLAIM_PAUSE_MS = 50;
/** The same while commands wait and nobody waits for a mail: signups come first. */
const BUSY_PAUSE_MS = 500;
/** Somebody has asked for these. */
const AWAITED: ReadonlySet<DueKind> = new Set(['member', 'verification', 'signup', 'leave', 'test']);
/** Time that mails under way get when the process stops. */
const STOP_MS = 5_000;
/** For how long a link in a mail works. */
const LINK_MS = 72 * 3_600_000;
const LEAVE_LINK_MS = 30 * 24 * 3_600_000;
/** How long a mail that was sent waits for the time of its offer to begin; with the attempt, less than its lease. */
const BEGUN_MAX_MS = LEASE_MS / 4;
/** Rows deleted in one transaction. */
const SWEPT_AT_ONCE = 1_000;

/** A mail ready to send. Its link is stored before it leaves. */
interface ComposedMail {
  readonly to: string;
  /** The record whose place the mail shows. It is read after the claim, whose lock every process waits for. */
  readonly placed: string | null;
  /** `place` from 1; null outside the queue. */
  readonly contentAt: (place: number | null) => Content;
  readonly link: VerificationLinkEntity | null;
  /** Whether the time of an offer begins when the mail is handed over. */
  readonly beginsOffer?: boolean;
}

/** A link to leave. It is stored before its mail leaves. */
interface NewLeaveLink {
  readonly row: Parameters<LeaveLinkStore['insert']>[0];
  readonly url: string;
  /** Null where the mail has the link on its button. */
  readonly footer: LeaveFooter | null;
}

/** A mail that this process alone sends, until its lease ends. */
interface Claimed {
  readonly mail: MailEntity;
  /** The mail before the claim. */
  readonly unclaimed: MailEntity;
  readonly composed: ComposedMail;
  readonly footer: LeaveFooter | null;
  /** The bound that now allows no further mail. A repeated signup beyond it stores none and leaves no line. */
  readonly reached: Bound | null;
}

/** The rows that a mail is about; undefined if deleted. */
interface MailContext {
  readonly recipient: Recipient | undefined;
  readonly waitlist: MailingWaitlist | undefined;
  /** The open offer of the person. */
  readonly offer: Offer | undefined;
  /** Undefined also if disabled. */
  readonly member: ActiveMember | undefined;
  readonly webhookUrl: string | undefined;
}

interface Claim {
  /** How many mails were due. */
  readonly due: number;
  readonly claimed: readonly Claimed[];
  readonly dropped: readonly { readonly mail: MailEntity; readonly bound: Bound }[];
}

/**
 * Sends the mails of the outbox, on every replica, those to members first ({@link MemberMails}). A claim is one
 * transaction: it checks the due mails against their bounds, gives each verification a new link and each mail to a
 * person one to leave, and leases the mails to this process. Accounts and their waitlists take turns, for each kind of
 * mail. A mail is sent at least once: if a process dies after the server took it, it goes out again when its lease
 * ends. Of some kinds a person needs the newest mail only: its first attempt drops those that wait.
 */
@Injectable()
export class MailDispatcher implements BeforeApplicationShutdown {
  private readonly task = new BackgroundTask(() => this.dispatch(), POLL_MS);
  private readonly sending = new Set<Promise<void>>();
  /** Of attempts that are over, to be stored together. */
  private results: Query<unknown>[] = [];
  /** Offers of a waitlist that begin at once leave its queue room for signups; others wait. */
  private readonly beginInTurn = keyedQueue('begin an offer', { runsMax: CONNECTIONS_MAX, waitingMax: 10_000 });
  /** Of offers whose mail the server has taken, until their time has begun. */
  private readonly beginning = new Set<Promise<void>>();
  /**
   * `nextFrom`: the waitlist id at which the next claim continues; one claim reads at most `WAITLISTS_MAX` waitlists of
   * each kind.
   */
  private readonly kinds = MAIL_KINDS.map((kind) => ({ kind, turns: new Turns(), nextFrom: 0 }));

  constructor(
    private readonly database: Database,
    private readonly mails: DueMailStore,
    private readonly toMembers: MemberMails,
    private readonly welcomes: WelcomeMaker,
    private readonly writer: QueueWriter,
    private readonly links: VerificationLinkStore,
    private readonly leaveLinks: LeaveLinkStore,
    private readonly offers: OfferReader,
    private readonly reader: QueueReader,
    private readonly sender: MailSender,
    private readonly metrics: MailMetrics,
    private readonly tasks: BackgroundTasks,
    signal: OutboxSignal,
    sweeper: Sweeper,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    if (sender.isConfigured) {
      tasks.add(this.task, 'could not send mails yet');
      signal.wakeForMails = () => this.wake();
    }
    // Kept this long because PendingSweeper reads the time of a record's last mail here.
    const oldMails = { table: 'mail', id: 'id', time: 'created_at', chunk: SWEPT_AT_ONCE } as const;
    sweeper.add({ ...oldMails, before: () => new Date(Date.now() - PENDING_KEPT_MS) });
    const oldLinks = {
      table: 'verification_link',
      id: 'token_hash',
      time: 'expires_at',
      chunk: SWEPT_AT_ONCE,
    } as const;
    sweeper.add({ ...oldLinks, before: () => new Date() });
    sweeper.add({ ...oldLinks, table: 'leave_link', before: () => new Date() });
  }

  /** How many waitlists need an `SMTP_URL` that is not set. */
  async countUnserved(): Promise<number> {
    return this.sender.isConfigured ? 0 : this.database.one(this.mails.countSenders());
  }

  /** Looks for mails now. */
  wake(): void {
    if (this.task.isStarted) this.task.wake();
  }

  /** Claims no more mails and waits for those under way, at most {@link STOP_MS}. Another process repeats the rest. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    const timer = setTimeout(() => void this.sender.close(), STOP_MS);
    await Promise.all(this.sending);
    clearTimeout(timer);
    await Promise.all(this.beginning);
    await this.task.attempt(() => this.storeResults());
    await this.sender.close();
  }

  /** Claims as many mails as there are free connections. A slow mail does not delay the next claim. */
  private async dispatch(): Promise<void> {
    for (;;) {
      await this.storeResults();
      const free = CONNECTIONS_MAX - this.sending.size;
      if (free === 0 || this.task.isStopped || !(await this.sender.isAvailable())) return;
      let kinds = await this.findDue();
      const toMembers = kinds.has('member') ? await this.toMembers.claim(free) : [];
      for (const attempt of toMembers) this.begin(attempt);
      if (toMembers.length > 0) {
        await pause(CLAIM_PAUSE_MS);
        continue;
      }
      if (!kinds.has('welcome') && (await this.welcomes.makeSome()) > 0) kinds = await this.findDue();
      if (kinds.size === 0) return;
      const { due, claimed, dropped } = await this.claim(free, kinds);
      for (const { mail, bound } of dropped) {
        this.metrics.count('dropped');
        this.tasks.log.warn({ waitlistId: mail.waitlistId, bound }, 'a mail beyond a bound was dropped');
      }
      for (const one of claimed) {
        const { mail, reached: bound } = one;
        if (bound !== null) this.tasks.log.warn({ waitlistId: mail.waitlistId, bound }, 'a mail reached a bound');
        this.begin(this.attemptOf(one));
      }
      if (due === 0 && !this.kinds.some(({ turns, nextFrom }) => nextFrom > 0 || turns.size > 0)) return;
      const canWait = [...kinds.keys()].every((kind) => !AWAITED.has(kind));
      await pause(canWait && this.writer.waiting > 0 ? BUSY_PAUSE_MS : CLAIM_PAUSE_MS);
    }
  }

  private findDue(): Promise<DueKinds> {
    return this.database.one(this.mails.findDue(new Date()));
  }

  private async claim(limit: number, kinds: DueKinds): Promise<Claim> {
    return this.database.pipelinedTransaction(async (session) => {
      const now = new Date();
      const due = await this.lockDue(session, now, limit, kinds);
      if (due.length === 0) return { due: 0, claimed: [], dropped: [] };
      const { contextOf, bounds } = await this.readContext(session, due, now);
      const claimed: Claimed[] = [];
      const dropped: { mail: MailEntity; bound: Bound }[] = [];
      const changes: Query<unknown>[] = [];
      for (const mail of due.filter((one) => !due.some((other) => isInPlaceOf(other, one)))) {
        const isFirst = mail.attempts === 0;
        const context = contextOf(mail);
        if (isOfOffer(mail) && context.offer && this.offers.linkOf(context.offer) === null) {
          // This process cannot decrypt the code. Another one may have the secret that sealed it.
          changes.push(this.mails.change(mail.id, { nextAttemptAt: new Date(now.getTime() + retryDelayMs(1)!) }));
          continue;
        }
        const leaveLink = leaveLinkOf(mail, now, context);
        const sample = mail.kind === 'test' && context.waitlist ? leaveFooter(context.waitlist) : null;
        const composed = this.compose(mail, now, context, leaveLink?.url ?? '');
        const bound = composed && isFirst ? bounds.boundOf(mail) : null;
        if (bound !== null) dropped.push({ mail, bound });
        if (composed === null || bound !== null) {
          changes.push(this.mails.change(mail.id, { status: 'dropped', nextAttemptAt: null }));
          continue;
        }
        const lease = leaseOf(mail, now);
        changes.push(this.mails.change(mail.id, lease));
        if (composed.link) changes.push(this.links.insert(composed.link));
        if (leaveLink) changes.push(this.leaveLinks.insert(leaveLink.row));
        if (isFirst && isCollapsed(mail)) changes.push(this.mails.dropOthers(mail, now));
        if (isFirst) bounds.count(mail);
        const reached = isFirst ? bounds.boundOf(mail) : null;
        claimed.push({
          mail: { ...mail, ...lease },
          unclaimed: mail,
          composed,
          footer: leaveLink?.footer ?? sample,
          reached,
        });
      }
      await session.commit(changes);
      return { due: due.length, claimed, dropped };
    });
  }

  /** Locks the mails whose turn it is: at most `limit`, and fewer if a waitlist has fewer than its share. */
  private async lockDue(session: Session, now: Date, limit: number, dueKinds: DueKinds): Promise<MailEntity[]> {
    const kinds = this.kinds.filter(
      ({ kind, turns, nextFrom }) => dueKinds.has(kind) || turns.size > 0 || nextFrom > 0,
    );
    const [, waiting] = await session.all([
      this.mails.lockClaims(),
      together(kinds.map(({ kind, nextFrom }) => this.mails.findWaiting(kind, nextFrom, now))),
    ]);
    const due: MailEntity[] = [];
    for (const [index, one] of kinds.entries()) {
      const { waitlists, nextFrom } = waiting[index]!;
      one.nextFrom = nextFrom;
      one.turns.add(waitlists);
      const shares = [...one.turns.deal(limit - due.length)];
      const locked = await session.all(shares.map(([id, share]) => this.mails.lockDue(one.kind, id, now, share)));
      for (const [at, [id, share]] of shares.entries()) if (locked[at]!.length < share) one.turns.remove(id);
      due.push(...locked.flat());
    }
    return due;
  }

  /** The rows that the mails are about, and the earlier mails that the bounds count. */
  private async readContext(session: Session, due: readonly MailEntity[], now: Date) {
    const [recipients, waitlists, offers, members, webhooks, mailboxes, networks] = await session.all([
      this.mails.findRecipients(distinct(due.map(({ waiterUuid }) => waiterUuid))),
      this.mails.findWaitlists(distinct(due.map(({ waitlistId }) => waitlistId))),
      this.findOffers(due.filter(isOfOffer)),
      this.mails.findMembers(distinct(due.map(({ memberId }) => memberId))),
      this.mails.findWebhooks(distinct(due.map(({ webhookId }) => webhookId))),
      this.mails.countTried('mailbox_hash', distinct(due.map(({ mailboxHash }) => mailboxHash)), now),
      this.mails.countTried('network_hash', distinct(due.map(({ networkHash }) => networkHash)), now),
    ]);
    const contextOf = ({ waiterUuid, waitlistId, memberId, webhookId }: MailEntity): MailContext => ({
      recipient: recipients.get(waiterUuid ?? ''),
      waitlist: waitlists.get(waitlistId),
      offer: offers.get(waiterUuid ?? ''),
      member: members.get(memberId ?? ''),
      webhookUrl: webhooks.get(webhookId ?? 0),
    });
    return { contextOf, bounds: new MailBounds({ mailboxes, networks }) };
  }

  /** The open offers of the people of mails, by the uuids of their records. */
  private findOffers(mails: readonly MailEntity[]): Query<ReadonlyMap<string, Offer>> {
    const found = distinct(mails.map(({ waitlistId }) => waitlistId)).map((id) => {
      const ofWaitlist = mails.filter(({ waitlistId }) => waitlistId === id);
      return this.offers.findOpen(id, distinct(ofWaitlist.map(({ waiterUuid }) => waiterUuid)));
    });
    return mapped(together(found), (maps) => new Map(maps.flatMap((offers) => [...offers])));
  }

  /**
   * Null if nobody needs the mail any more: its waitlist, person, member or webhook is gone, the email is verified, no
   * offer is open, or the member is no longer an owner.
   */
  private compose(mail: MailEntity, now: Date, context: MailContext, leaveUrl: string): ComposedMail | null {
    const { recipient, waitlist, member, webhookUrl } = context;
    if (!waitlist) return null;
    if (mail.kind === 'test')
      return member && mail.tested ? unplaced(member.email, sampleMail(waitlist, mail.tested)) : null;
    if (mail.kind === 'webhook_disabled') {
      const desk = `${this.config.publicBaseUrl}/desk`;
      return member?.isOwner && webhookUrl !== undefined
        ? unplaced(member.email, webhookDisabledMail(waitlist, webhookUrl, desk))
        : null;
    }
    if (!recipient || recipient.email === null || recipient.emailKey === null) return null;
    const { uuid, email, emailKey, verified, status, referralToken } = recipient;
    const firstName = verified ? nonBlank(recipient.firstName) : null;
    if (mail.kind === 'your_turn')
      return isLetIn(recipient) ? unplaced(email, yourTurnMail(waitlist, firstName)) : null;
    if (isOfOffer(mail)) return this.composeOffer(mail, now, context, { to: email, firstName });
    if (mail.kind === 'leave') return unplaced(email, leaveMail(waitlist, leaveUrl));
    const isWelcomed = mail.kind !== 'verification' && status === 'waiting';
    const welcomed = (place: number | null) => ({
      firstName,
      place,
      privatePage: `${waitlist.numberedPage}/status/${uuid}`,
      referralLink: referralLink(signupPage(waitlist), referralToken),
    });
    if (mail.kind === 'welcome' || verified) {
      if (!isWelcomed) return null;
      return { to: email, placed: uuid, contentAt: (place) => welcomeMail(waitlist, welcomed(place)), link: null };
    }
    const token = newToken();
    const link = {
      tokenHash: hashKey(token),
      waitlistId: waitlist.id,
      waiterUuid: uuid,
      emailKey,
      createdAt: now,
      expiresAt: new Date(now.getTime() + LINK_MS),
      usedAt: null,
    };
    const url = `${waitlist.numberedPage}/verify/${token}`;
    if (isWelcomed) {
      const contentAt = (place: number | null) => signupMail(waitlist, welcomed(place), url);
      return { to: email, placed: uuid, contentAt, link };
    }
    const placed = showsPlace(waitlist.mails.verification) ? uuid : null;
    return { to: email, placed, contentAt: (place) => verificationMail(waitlist, place, url), link };
  }

  private composeOffer(
    { kind }: MailEntity,
    now: Date,
    { waitlist, offer }: MailContext,
    { to, firstName }: { readonly to: string; readonly firstName: string | null },
  ): ComposedMail | null {
    const url = offer && stateAt(offer, now) === 'open' ? this.offers.linkOf(offer) : null;
    if (!waitlist || !offer || url === null) return null;
    const { priority, expiresAt, dueAt } = offer;
    const offered = { firstName, place: priority + 1, url };
    if (kind === 'offer_reminder')
      return isReminderDue(offer, now)
        ? unplaced(to, offerReminderMail(waitlist, { ...offered, until: expiresAt }))
        : null;
    // The time begins when the server has taken the mail, or at `dueAt`, when the sweep begins it. The mail must not
    // promise more.
    const beginning = () => new Date(Math.min(Date.now(), dueAt?.getTime() ?? Infinity));
    const contentAt = () => offerMail(waitlist, { ...offered, until: expiresAt ?? endOf(offer, beginning()) });
    return { to, placed: null, contentAt, link: null, beginsOffer: expiresAt === null && offer.hours !== null };
  }

  /** From 1; null outside the queue. */
  private async placeOf(waitlistId: number, uuid: string): Promise<number | null> {
    const { waiter } = await this.reader.findByUuid(waitlistId, uuid);
    return waiter?.status === 'waiting' ? waiter.priority + 1 : null;
  }

  private attemptOf({ mail, unclaimed, composed, footer }: Claimed): Attempt {
    const { id, kind, waitlistId, waiterUuid, attempts } = mail;
    const { to, placed, contentAt, beginsOffer } = composed;
    return {
      id,
      to,
      attempts,
      about: { kind, waitlistId },
      compose: async () => ({
        content: contentAt(placed === null ? null : await this.placeOf(waitlistId, placed)),
        footer,
      }),
      ...(beginsOffer &&
        waiterUuid !== null && {
          begin: (at: Date) =>
            this.beginInTurn(String(waitlistId), () => this.writer.submit(waitlistId, beginOffer(waiterUuid, at))),
        }),
      settle: (change) => this.mails.settle(mail, change),
      release: () => {
        const { attempts, attemptedAt, nextAttemptAt } = unclaimed;
        return this.mails.settle(mail, { attempts, attemptedAt, nextAttemptAt });
      },
    };
  }

  private begin(attempt: Attempt): void {
    const sending: Promise<void> = this.task
      .attempt(() => this.send(attempt))
      .finally(() => {
        this.sending.delete(sending);
        this.wake();
      });
    this.sending.add(sending);
  }

  private async send({ id, to, attempts, about, compose, begin, settle, release }: Attempt): Promise<void> {
    const { content, footer } = await compose();
    const { subject } = content;
    const receipt = await this.sender.send({ id, to, subject, ...(await render(content, footer)) });
    if (receipt.outcome === 'sent') {
      this.metrics.count('sent');
      const at = new Date();
      const settled = settle({ status: 'sent', nextAttemptAt: null });
      if (begin) this.beginOffer(() => begin(at), settled);
      else this.results.push(settled);
      return;
    }
    if (receipt.outcome === 'unavailable') {
      this.results.push(release());
      return;
    }
    const delayMs = receipt.outcome === 'deferred' ? retryDelayMs(attempts) : null;
    const outcome = delayMs === null ? 'failed' : 'retried';
    this.metrics.count(outcome);
    this.tasks.log.warn({ ...about, attempts, outcome, reason: receipt.reason }, 'a mail was not sent');
    this.results.push(
      settle(
        delayMs === null
          ? { status: 'failed', nextAttemptAt: null }
          : { nextAttemptAt: new Date(Date.now() + delayMs) },
      ),
    );
  }

  /**
   * Begins the time of an offer, and settles its mail then: if the process dies before, the mail goes out again. The
   * queue of the offer can be busy for minutes. Other mails do not wait for it, and this one does not go out again.
   */
  private beginOffer(begin: () => Promise<unknown>, settled: Query<unknown>): void {
    // Settling twice changes nothing.
    const settle = () => {
      this.results.push(settled);
      this.wake();
    };
    const timer = setTimeout(settle, BEGUN_MAX_MS);
    const beginning: Promise<void> = this.untilBegun(begin).then((hasBegun) => {
      clearTimeout(timer);
      this.beginning.delete(beginning);
      if (hasBegun) settle();
    });
    this.beginning.add(beginning);
  }

  /** False if the process stops before. */
  private async untilBegun(begin: () => Promise<unknown>): Promise<boolean> {
    for (;;) {
      try {
        await unlessDeleted(begin);
        return true;
      } catch (error) {
        if (!isUnavailable(error))
          this.tasks.log.error({ error: safeError(error) }, 'the time of an offer could not begin yet');
        if (this.task.isStopped) return false;
        await pause(POLL_MS);
      }
    }
  }

  private async storeResults(): Promise<void> {
    const results = this.results;
    if (results.length === 0) return;
    this.results = [];
    try {
      await this.database.pipelinedTransaction((session) => session.commit(results));
    } catch (error) {
      this.results.push(...results);
      throw error;
    }
  }
}

function unplaced(to: string, content: Content): ComposedMail {
  return { to, placed: null, contentAt: () => content, link: null };
}

/** Null for a mail to an owner, or about somebody or a waitlist that is deleted. */
function leaveLinkOf({ kind }: MailEntity, now: Date, { recipient, waitlist }: MailContext): NewLeaveLink | null {
  if (!recipient || recipient.emailKey === null || !waitlist) return null;
  const token = newToken();
  const url = `${waitlist.numberedPage}/leave/${token}`;
  const row = {
    tokenHash: hashKey(token),
    waitlistId: waitlist.id,
    waiterUuid: recipient.uuid,
    emailKey: recipient.emailKey,
    createdAt: now,
    expiresAt: new Date(now.getTime() + LEAVE_LINK_MS),
  };
  return { row, url, footer: kind === 'leave' ? null : leaveFooter(waitlist, url) };
}

/** Begins an attempt: it counts, and another process may repeat it after the lease. */
function leaseOf({ attempts, attemptedAt }: MailEntity, now: Date) {
  return { attempts: attempts + 1, attemptedAt: attemptedAt ?? now, nextAttemptAt: new Date(now.getTime() + LEASE_MS) };
}

/** Of these, a person gets the newest only. */
function isCollapsed({ kind }: MailEntity): boolean {
  return kind === 'verification' || kind === 'leave' || kind === 'offer' || kind === 'your_turn';
}

function isOfOffer({ kind }: MailEntity): boolean {
  return kind === 'offer' || kind === 'offer_reminder';
}

/** Whether the reminder is due. One that was planned for an earlier offer of the person may come too soon. */
function isReminderDue(offer: Offer, now: Date): boolean {
  const at = reminderAt(offer);
  return at !== null && at <= now;
}

/**
 * A claim takes the newest. The others wait for the next, in case a bound drops it. A new offer takes the place of a
 * reminder.
 */
function isInPlaceOf(newer: MailEntity, older: MailEntity): boolean {
  const { kind, waiterUuid, id } = older;
  if (kind === 'offer_reminder') return newer.kind === 'offer' && newer.waiterUuid === waiterUuid;
  return isCollapsed(older) && newer.kind === kind && newer.waiterUuid === waiterUuid && newer.id > id;
}

function distinct<Value extends string | number>(values: readonly (Value | null)[]): Value[] {
  return [...new Set(values)].flatMap((value) => value ?? []);
}
