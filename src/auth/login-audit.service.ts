import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { AuditLog, type Origin } from '../platform/audit/audit-log.js';
import { BackgroundTask, BackgroundTasks } from '../platform/background-task.js';
import { Database } from '../platform/database/database.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { MemberService } from '../account/member.service.js';

/**
 * Events of one member an hour, failed and throttled logins each: enough to see an attack and its addresses. Strangers
 * cause them, and must not fill the table.
 */
const EVENTS_MAX = 20;
const WINDOW_SECONDS = 60 * 60;
/** Events of one process that wait to be written. Further ones are dropped. */
const WAITING_MAX = 1_000;
/** Not at once: a write right after the answer would tell that the email has a login. */
const INTERVAL_MS = 5_000;

interface FailedLogin extends Omit<Origin, 'memberId'> {
  readonly action: 'login_failed' | 'login_throttled';
  readonly emailKey: string;
}

/**
 * Writes audit events of failed logins, for existing members only: in the background, because the response time must
 * not reveal whether one exists.
 */
@Injectable()
export class LoginAuditService implements BeforeApplicationShutdown {
  private readonly waiting: FailedLogin[] = [];
  private readonly counter: RateLimiterAbstract;
  private readonly task = new BackgroundTask(() => this.writeAll(), INTERVAL_MS);

  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
    private readonly members: MemberService,
    private readonly secrets: Secrets,
    counts: SharedCounts,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not record a failed login');
    this.counter = counts.counter('login-events', WINDOW_SECONDS);
  }

  note(failure: FailedLogin): void {
    if (this.waiting.length === WAITING_MAX) return;
    this.waiting.push(failure);
  }

  /** Resolves when all events are written. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    await this.task.attempt(() => this.writeAll());
  }

  /** Writes the events noted so far. Ends at the first that cannot be written, which is lost. */
  async writeAll(): Promise<void> {
    for (let failure = this.waiting.shift(); failure; failure = this.waiting.shift()) {
      const { emailKey, ...event } = failure;
      await this.write(emailKey, event);
    }
  }

  private async write(emailKey: string, event: Omit<FailedLogin, 'emailKey'>): Promise<void> {
    const { consumedPoints } = await this.counter.penalty(
      this.secrets.hash('login-events', `${event.action} ${emailKey}`),
    );
    if (consumedPoints > EVENTS_MAX) return;
    const found = await this.members.findByEmailKey(emailKey);
    if (!found) return;
    const { id: memberId, accountId } = found.member;
    const record = this.audit.record({ ...event, accountId, memberId });
    await this.database.pipelinedTransaction((transaction) => transaction.commit([record]));
  }
}
