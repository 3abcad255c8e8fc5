import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { v4 as uuidV4, v7 as uuidV7 } from 'uuid';
import { AuditLog, NO_REQUEST } from '../../platform/audit/audit-log.js';
import { BackgroundTask, BackgroundTasks } from '../../platform/background-task.js';
import { Database } from '../../platform/database/database.js';
import { type AccountWrite, operatorWrite } from '../../platform/idempotency/account-write.js';
import { AccountWriteService } from '../../platform/idempotency/account-write.service.js';
import { type PageAfter, pageOf } from '../../platform/page.js';
import { Problem, unlessDeleted } from '../../platform/problems/problem.js';
import { OfferCodes } from '../offers/offer-codes.js';
import { QueueMetrics } from '../queue.metrics.js';
import { type DueRelease, ReleaseDueTable } from '../settings/release-due.table.js';
import { freeSeats, runsBetween, type SavedPlan } from '../settings/release-plan.js';
import { QueueStore } from '../settings/queue.store.js';
import { makeOffers } from '../write/commands/make-offers.js';
import { QueueWriter } from '../write/queue.writer.js';
import { pieceId, plannedRunId, type ReleaseRun } from './release-run.js';
import type { ReleaseRunEntity } from './release-run.entity.js';
import { ReleaseRunStore } from './release-run.store.js';

/** How often each process looks for runs. */
const LOOK_MS = 10_000;
/** Waitlists whose due runs one look begins. The next look begins more. */
const DUE_MAX = 1_000;
/** A run that is this late, or later, is skipped. */
const LATE_MAX_MS = 3_600_000;
/** Missed runs of one plan that are listed after an outage. */
const MISSED_MAX = 100;
/** People in one piece of a run: as many as one call can offer a seat. */
const PIECE_MAX = 1_000;
/** Runs that one process carries out at once. */
const OWN_RUNS_MAX = 8;
/** Runs that one look considers. Other processes may have some of them. */
const RUNNING_MAX = 200;
const BEAT_MS = 10_000;
/** After this time without a heartbeat, the process of a run counts as dead. */
const SILENCE_MAX_MS = 30_000;

/** A page of the runs of a waitlist. */
export interface RunPage {
  readonly runs: readonly ReleaseRun[];
  /** The id after which the next page starts; null on the last page. */
  readonly nextAfterId: string | null;
}

/**
 * Carries out release plans. Every process looks for runs that are due. The first one that gets the lock of a waitlist
 * inserts its runs. The id of a run follows from its planned time, so no run is inserted twice. A run makes its offers
 * in pieces, and the id of a piece follows from its number. So a process may repeat a piece of another process, whether
 * that one was killed or is still at work: a piece that is done stays as it is.
 */
@Injectable()
export class ReleaseRunner implements BeforeApplicationShutdown {
  /** Identifies this process. */
  private readonly runner = uuidV4();
  private readonly task = new BackgroundTask(() => this.look(), LOOK_MS);
  /** The runs that this process carries out, by id. */
  private readonly ownRuns = new Map<string, Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly dues: ReleaseDueTable,
    private readonly runs: ReleaseRunStore,
    private readonly writer: QueueWriter,
    private readonly codes: OfferCodes,
    private readonly audit: AuditLog,
    private readonly writes: AccountWriteService,
    private readonly metrics: QueueMetrics,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not carry out a run of a release plan yet');
  }

  /** A page of the runs of a waitlist, newest first. */
  async list(waitlistId: number, { afterId, limit }: PageAfter<string>): Promise<RunPage> {
    const found = await this.database.one(this.runs.list(waitlistId, { afterId, limit: limit + 1 }));
    const { items: runs, nextAfterId } = pageOf(found, limit);
    return { runs, nextAfterId };
  }

  async find(id: string): Promise<ReleaseRun | null> {
    return this.database.one(this.runs.find(id));
  }

  /**
   * What a run would offer now, as a run without an id.
   * @throws Problem `WAITLIST_NOT_FOUND`, `NO_RELEASE_PLAN`, `RELEASE_RUNNING`
   */
  async preview(waitlistId: number): Promise<Omit<ReleaseRun, 'id'>> {
    const [waitlist, isRunning] = await this.database.all([
      this.queues.findWhole(waitlistId),
      this.runs.hasRunning(waitlistId),
    ]);
    const { count } = requireIdle(waitlist.releasePlan, isRunning);
    const offered = Math.min(count, waitlist.active, freeSeats(waitlist));
    return { ...newRun(waitlistId, new Date(), count), state: 'done', ranAt: null, offered };
  }

  /**
   * Runs the plan now, paused or not. Resolves after the first piece: the run goes on if it is `running` then.
   * @throws Problem `WAITLIST_NOT_FOUND`, `NO_RELEASE_PLAN`, `RELEASE_RUNNING`
   */
  async runNow(waitlistId: number, write: AccountWrite): Promise<ReleaseRun> {
    const plannedAt = new Date();
    // With the time given, the id follows the clock alone. Otherwise, uuid never returns an id below an earlier one, so
    // ids would stay ahead after the clock was.
    const id = uuidV7({ msecs: plannedAt.getTime() });
    const run = await this.database.pipelinedTransaction(async (session) => {
      const [waitlist, done, isRunning, stored] = await session.all([
        this.queues.lockWhole(waitlistId),
        this.audit.findDone([write.id]),
        this.runs.hasRunning(waitlistId),
        this.runs.find(id),
      ]);
      // A retry after a lost answer to the commit.
      if (done.has(write.id) && stored) return stored;
      const { count } = requireIdle(waitlist.releasePlan, isRunning);
      const now = new Date();
      const { memberId } = write;
      const begun = this.held({ ...newRun(waitlistId, plannedAt, count), id, ranAt: now, memberId }, now);
      await session.commit([
        this.runs.insert([begun]),
        this.writes.record(write, { action: 'release_ran', waitlistId, wholeAnswer: { id } }),
      ]);
      return begun;
    });
    return new Promise((resolve) => {
      this.track(id, async () => {
        try {
          await this.carryOut(run, write.accountId, resolve);
        } finally {
          resolve(run);
        }
      });
    });
  }

  /** Begins the runs that are due, and continues those that no process is at work on. */
  async look(): Promise<void> {
    for (const waitlistId of await this.database.one(this.dues.findDue(new Date(), DUE_MAX)))
      if (!this.isStopping) await this.task.attempt(() => this.begin(waitlistId));
    for (const run of await this.database.one(this.runs.findRunning(RUNNING_MAX)))
      if (this.ownRuns.size < OWN_RUNS_MAX && !this.isStopping && !this.ownRuns.has(run.id) && !this.isElsewhere(run))
        this.track(run.id, () => this.takeOver(run));
  }

  /** Waits for the pieces under way. Other processes continue the runs. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.ownRuns.values());
  }

  /** Stores the runs of a waitlist whose time has come. */
  private async begin(waitlistId: number): Promise<void> {
    await unlessDeleted(() =>
      this.database.pipelinedTransaction(async (session) => {
        const [waitlist, due, isDisabled] = await session.all([
          this.queues.lockWhole(waitlistId),
          this.dues.find(waitlistId),
          this.dues.isDisabled(waitlistId),
        ]);
        const { accountId, releasePlan: plan } = waitlist;
        const now = new Date();
        const times = plan && due && !isDisabled ? timesOf(plan, due, now) : [];
        const planned = times.map((time) => this.plannedRun(waitlistId, time, now, plan!.count));
        const states = await session.one(this.runs.findStates(planned.map(({ id }) => id)));
        const fresh = planned.filter(({ id }) => !states.has(id));
        // A clock that was ahead has skipped them.
        const early = planned.filter(({ id, state }) => state === 'running' && states.get(id) === 'skipped');
        const event = { ...NO_REQUEST, accountId, action: 'release_ran', waitlistId } as const;
        const begun = [...fresh.filter(({ state }) => state === 'running'), ...early];
        await session.commit([
          this.runs.insert(fresh),
          ...early.map((run) => this.runs.start(run)),
          ...begun.map(() => this.audit.record(event)),
          this.dues.note(waitlistId, plan, now),
        ]);
        this.metrics.releases.inc({ state: 'skipped' }, fresh.filter(({ state }) => state === 'skipped').length);
      }),
    );
  }

  private plannedRun(waitlistId: number, time: Date, now: Date, count: number): ReleaseRunEntity {
    const run = { ...newRun(waitlistId, time, count), id: plannedRunId(waitlistId, time) };
    const isLate = now.getTime() - time.getTime() >= LATE_MAX_MS;
    return isLate
      ? { ...run, state: 'skipped', runner: null, heartbeatAt: null }
      : { ...run, ranAt: now, runner: null, heartbeatAt: null };
  }

  /** Whether another process is at work on a run. A clock that was set back leaves heartbeats in the future. */
  private isElsewhere({ runner, heartbeatAt }: ReleaseRunEntity): boolean {
    if (runner === null || runner === this.runner || heartbeatAt === null) return false;
    return Math.abs(Date.now() - heartbeatAt.getTime()) < SILENCE_MAX_MS;
  }

  /** A run, as this process carries it out. */
  private held(run: ReleaseRun, now: Date): ReleaseRunEntity {
    return { ...run, runner: this.runner, heartbeatAt: now };
  }

  /** Continues a run, unless another process has done so since. */
  private async takeOver({ id, waitlistId }: ReleaseRun): Promise<void> {
    await unlessDeleted(async () => {
      const taken = await this.database.pipelinedTransaction(async (session) => {
        const [run, { accountId }] = await session.all([this.runs.lock(id), this.queues.find(waitlistId)]);
        if (run?.state !== 'running' || this.isElsewhere(run)) return null;
        const held = this.held(run, new Date());
        await session.commit([this.runs.start(held)]);
        return { run: held, accountId };
      });
      if (taken) await this.carryOut(taken.run, taken.accountId);
    });
  }

  /** Carries out the pieces of a run that this process holds. Calls `report` with the run after each piece. */
  private async carryOut(
    held: ReleaseRunEntity,
    accountId: number,
    report: (run: ReleaseRun) => void = () => undefined,
  ): Promise<void> {
    const beats = setInterval(() => {
      // If it fails, another process may take the run over, which does no harm.
      this.database.one(this.runs.beat(held, new Date())).catch(() => undefined);
    }, BEAT_MS).unref();
    let run: ReleaseRun = held;
    try {
      while (run.state === 'running' && !this.isStopping) {
        run = await this.offerPiece(run, accountId);
        report(run);
      }
    } finally {
      clearInterval(beats);
      if (run.state === 'running') await this.database.one(this.runs.leave(held));
    }
  }

  private async offerPiece(run: ReleaseRun, accountId: number): Promise<ReleaseRun> {
    const { id, waitlistId, count, memberId } = run;
    const next = Math.min(PIECE_MAX, count - run.offered);
    const codes = Array.from({ length: next }, () => this.codes.make());
    const write = { ...operatorWrite(accountId), id: pieceId(run), memberId };
    const { uuids } = await this.writer.submit(
      waitlistId,
      makeOffers({ selection: { next }, codes, run: { id } }, write),
    );
    const offered = run.offered + uuids.length;
    // Fewer than asked for: nobody waits, or no seat is free.
    const state = offered === count || uuids.length < next ? 'done' : 'running';
    const progressed: ReleaseRun = { ...run, state, offered, pieces: run.pieces + 1 };
    await this.database.one(this.runs.progress(progressed, new Date()));
    if (state === 'done') this.metrics.releases.inc({ state });
    return progressed;
  }

  /** Carries out `work` on a run. After a failure, a later look continues the run. */
  private track(id: string, work: () => Promise<void>): void {
    const working = this.task
      .attempt(work)
      .finally(() => this.ownRuns.delete(id))
      .then(() => {
        // Another run may have waited, because this process had as many as it may.
        if (this.ownRuns.size === OWN_RUNS_MAX - 1) this.task.wake();
      });
    this.ownRuns.set(id, working);
  }
}

/** Times of a plan that may have no run yet. */
function timesOf(plan: SavedPlan, { dueAt, seenAt }: DueRelease, now: Date): Date[] {
  // If the clock was set back, there may be times before `dueAt` that have no run yet.
  const after = seenAt <= now && dueAt !== null ? new Date(dueAt.getTime() - 1) : new Date(0);
  return runsBetween(plan, after, now, MISSED_MAX);
}

function newRun(waitlistId: number, plannedAt: Date, count: number): Omit<ReleaseRun, 'id'> {
  return { waitlistId, state: 'running', plannedAt, ranAt: null, count, offered: 0, pieces: 0, memberId: null };
}

/** @throws Problem `NO_RELEASE_PLAN`, `RELEASE_RUNNING` */
function requireIdle(plan: SavedPlan | null, isRunning: boolean): SavedPlan {
  if (!plan) throw new Problem('NO_RELEASE_PLAN');
  if (isRunning) throw new Problem('RELEASE_RUNNING');
  return plan;
}
