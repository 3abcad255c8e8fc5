import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { MemberLinkService } from '../account/member-link.service.js';
import { AuditLog, type Origin, type Sender } from '../platform/audit/audit-log.js';
import { BackgroundTask, BackgroundTasks } from '../platform/background-task.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { emailKey } from '../platform/contract/email.js';
import { isUnavailable, Problem } from '../platform/problems/problem.js';

/** Emails of one process that wait. Further ones are dropped. */
const WAITING_MAX = 1_000;
/** Not at once: work right after the answer would tell that the email has a login. */
const INTERVAL_MS = 1_000;

/**
 * Starts resets of forgotten passwords: in the background, because neither the time nor the work of an answer may
 * reveal whether an email has a login.
 */
@Injectable()
export class ForgottenPasswordService implements BeforeApplicationShutdown {
  /** By the normal form of the email, so that a rush of requests for one is one. */
  private readonly waiting = new Map<string, Origin>();
  private readonly task = new BackgroundTask(() => this.startAll(), INTERVAL_MS);

  constructor(
    private readonly links: MemberLinkService,
    private readonly audit: AuditLog,
    tasks: BackgroundTasks,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    tasks.add(this.task, 'could not start a password reset');
  }

  /** @throws Problem `MAIL_IS_OFF` */
  note(email: string, request: Sender): void {
    if (this.config.mail === null) throw new Problem('MAIL_IS_OFF');
    if (this.waiting.size === WAITING_MAX) return;
    this.waiting.set(emailKey(email) ?? '', this.audit.originOf(request, null));
  }

  /** Resolves when all are started. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    await this.task.attempt(() => this.startAll());
  }

  /** Starts the resets noted so far. While the database is unavailable, they wait for the next run. */
  async startAll(): Promise<void> {
    for (const [key, origin] of this.waiting) {
      try {
        await this.links.startForgotten(key, origin);
      } catch (error) {
        if (!isUnavailable(error)) this.waiting.delete(key);
        throw error;
      }
      this.waiting.delete(key);
    }
  }
}
