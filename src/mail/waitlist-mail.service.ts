import { Injectable } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { Database } from '../platform/database/database.js';
import type { Reach } from '../platform/reach.js';
import { toSeconds } from '../platform/limits/rate-limits.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import type { WordedMail } from '../outbox/mail.entity.js';
import { MailStore } from '../outbox/mail.store.js';
import { OutboxSignal } from '../outbox/outbox.signal.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';
import { render } from './mail-layout.js';
import { MailSender } from './mail.sender.js';
import { leaveFooter, sampleMail } from './mail-texts.js';

/** Test mails of one account. */
export const TESTS_MAX = 10;
const TEST_WINDOW_SECONDS = 3_600;

const NO_MAIL: FieldFault = {
  field: 'kind',
  rule: 'one_of',
  message: 'cannot be mailed: this service sends no mail, because SMTP_URL is not set',
};

/** A mail as its readers see it. */
export interface ShownMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The mails of a waitlist, as its account tries them. */
@Injectable()
export class WaitlistMailService {
  private readonly tests: RateLimiterAbstract;

  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistService,
    private readonly mails: MailStore,
    private readonly sender: MailSender,
    private readonly signal: OutboxSignal,
    counts: SharedCounts,
  ) {
    this.tests = counts.counter('mail_tests', TEST_WINDOW_SECONDS);
  }

  /** A mail with invented values. @throws Problem `WAITLIST_NOT_FOUND` */
  async preview(reach: Reach, waitlistId: number, kind: WordedMail): Promise<ShownMail> {
    const waitlist = await this.waitlists.getWorded(reach, waitlistId);
    const content = sampleMail(waitlist, kind);
    return { subject: content.subject, ...(await render(content, leaveFooter(waitlist))) };
  }

  /** Mails it to the member. @throws Problem `WAITLIST_NOT_FOUND`, `WAITLIST_RULE_BROKEN`, `RATE_LIMITED` */
  async test(reach: Reach, memberId: string, waitlistId: number, kind: WordedMail): Promise<void> {
    const { id } = await this.waitlists.get(reach, waitlistId);
    if (!this.sender.isConfigured) throw Problem.ruleBroken([NO_MAIL]);
    const { consumedPoints, msBeforeNext } = await this.tests.penalty(String(reach.accountId));
    if (consumedPoints > TESTS_MAX) throw new Problem('RATE_LIMITED', { retryAfterSeconds: toSeconds(msBeforeNext) });
    await this.database.one(this.mails.insertTest(id, memberId, kind, new Date()));
    this.signal.wakeForMails();
  }
}
