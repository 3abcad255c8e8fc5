import { Injectable } from '@nestjs/common';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService } from '../platform/idempotency/account-write.service.js';
import type { PageAfter } from '../platform/page.js';
import { Problem } from '../platform/problems/problem.js';
import type { Reach } from '../platform/reach.js';
import { ReleaseRunner, type RunPage } from '../queue/release/release.runner.js';
import type { ReleaseRun } from '../queue/release/release-run.js';
import { WaitlistService } from './waitlist.service.js';

/** A run; in a dry run, without an id. */
export type ShownRun = Omit<ReleaseRun, 'id'> & { readonly id: string | null };

/** Operations of accounts on the runs of their release plans. */
@Injectable()
export class ReleaseService {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly runner: ReleaseRunner,
    private readonly writes: AccountWriteService,
  ) {}

  /** A page of the runs, newest first. @throws Problem `WAITLIST_NOT_FOUND` */
  async list(reach: Reach, waitlistId: number, page: PageAfter<string>): Promise<RunPage> {
    await this.waitlists.get(reach, waitlistId);
    return this.runner.list(waitlistId, page);
  }

  /**
   * What a run would offer now. Changes nothing.
   * @throws Problem `WAITLIST_NOT_FOUND`, `NO_RELEASE_PLAN`, `RELEASE_RUNNING`
   */
  async preview(reach: Reach, waitlistId: number): Promise<ShownRun> {
    await this.waitlists.get(reach, waitlistId);
    return { ...(await this.runner.preview(waitlistId)), id: null };
  }

  /** Runs the plan now. @throws Problem as {@link preview}, and those of {@link AccountWriteService.once} */
  async run(waitlistId: number, write: AccountWrite): Promise<ShownRun> {
    await this.waitlists.get(write, waitlistId);
    return this.writes.once<ShownRun>(
      write,
      () => this.runner.runNow(waitlistId, write),
      async ({ wholeAnswer }) => {
        const run = await this.runner.find((wholeAnswer as { id: string }).id);
        if (!run) throw new Problem('WAITLIST_NOT_FOUND');
        return run;
      },
    );
  }
}
