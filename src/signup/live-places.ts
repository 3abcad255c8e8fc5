import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Histogram } from 'prom-client';
import { BackgroundTask, BackgroundTasks } from '../platform/background-task.js';
import type { EventStream } from '../platform/http/event-stream.js';
import { isUnavailable, Problem } from '../platform/problems/problem.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { dayOf } from '../queue/order/day-counts.js';
import { PlaceReader } from '../queue/read/place.reader.js';
import { weeksBefore } from './estimate.js';
import { PlaceDto } from './place.dto.js';
import { explain, type Place } from './place.js';
import type { FoundPlace } from './signup.service.js';

/** The interval between two checks for changes, and the shortest between two events to a person. */
const UPDATE_MS = 2_000;
/** An event may come this much sooner than {@link UPDATE_MS} after the last one. */
const JITTER_MS = 100;
/** People whose places are read together: some milliseconds, in which the embedded database blocks the event loop. */
const BATCH_MAX = 200;
/** Of the time of the process, updates take at most one part in this many. */
const BUDGET = 10;
/** Checked every second, so that a comment is sent every 15. */
const COMMENT_CHECK_MS = 1_000;
const COMMENT_MS = 14_000;
const DELAY_BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

/** A person who watches a place. */
interface Watcher {
  readonly uuid: string;
  readonly stream: EventStream;
  /** The data of the last event, and when it was sent. */
  sent: string;
  sentAtMs: number;
  /** The revision of the waitlist, and the day in UTC, for which it was computed. */
  revision: number;
  day: string;
  /** When it was noticed that this is no longer so; null while it is. */
  lateSinceMs: number | null;
  commentAtMs: number;
}

/**
 * Sends changed places to the clients that watch them. One loop asks which of the watched waitlists have changed, and
 * reads the places of each waitlist together. Nothing is read of a waitlist that nobody watches.
 */
@Injectable()
export class LivePlaces implements OnModuleDestroy {
  private readonly watchers = new Map<number, Set<Watcher>>();
  private readonly updates = new BackgroundTask(() => this.update(), UPDATE_MS);
  private readonly delay: Histogram;
  private readonly end = new AbortController();

  constructor(
    private readonly places: PlaceReader,
    tasks: BackgroundTasks,
    { registry }: Metrics,
  ) {
    tasks.add(this.updates, 'updating live places failed');
    tasks.add(new BackgroundTask(async () => this.comment(), COMMENT_CHECK_MS), 'keeping live places open failed');
    this.delay = new Histogram({
      name: 'waitlist_live_update_delay_seconds',
      help: 'Time from noticing that a waitlist changed, at most two seconds after the change, to sending a changed place.',
      buckets: DELAY_BUCKETS_SECONDS,
      registers: [registry],
    });
  }

  onModuleDestroy(): void {
    this.end.abort();
  }

  /** Sends the place, and then each change of it until the connection ends. */
  watch({ waitlistId, uuid, revision, place }: FoundPlace, stream: EventStream): void {
    const nowMs = performance.now();
    const watcher: Watcher = {
      uuid,
      stream,
      sent: '',
      sentAtMs: nowMs,
      revision,
      day: dayOf(new Date()),
      lateSinceMs: null,
      commentAtMs: nowMs + COMMENT_MS,
    };
    const watchers = this.watchers.get(waitlistId) ?? new Set();
    this.watchers.set(waitlistId, watchers.add(watcher));
    stream.onceClosed(() => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.watchers.get(waitlistId) === watchers) this.watchers.delete(waitlistId);
    });
    this.show(watcher, place);
  }

  /**
   * One batch of each waitlist that changed. If that leaves people out, the next round follows at once: a crowd that
   * watches one waitlist holds up no other.
   */
  private async update(): Promise<void> {
    const waitlistIds = [...this.watchers.keys()];
    if (waitlistIds.length === 0) return;
    const revisions = await this.places.findRevisions(waitlistIds);
    for (const waitlistId of waitlistIds) {
      if (this.end.signal.aborted) return;
      const watchers = this.watchers.get(waitlistId) ?? new Set();
      const revision = revisions.get(waitlistId);
      if (revision === undefined) {
        for (const watcher of watchers) dismiss(watcher);
        continue;
      }
      const late = lateOf(watchers, revision);
      if (late.length > 0)
        await this.withinBudget(() => this.updateSome(waitlistId, revision, late.slice(0, BATCH_MAX)));
      // Unless the database was unavailable: then it has time until the next interval.
      if (late.length > BATCH_MAX && late[0]?.lateSinceMs === null) this.updates.wake();
    }
  }

  /**
   * Sends their changed places to some watchers. If the database is unavailable, the next round tries again; after
   * another error, the next change does. Other watchers are served all the same.
   */
  private async updateSome(waitlistId: number, revision: number, watchers: readonly Watcher[]): Promise<void> {
    const now = new Date();
    const day = dayOf(now);
    const uuids = [...new Set(watchers.map(({ uuid }) => uuid))];
    await this.updates.attempt(async () => {
      try {
        const places = await this.places.findAll(waitlistId, { uuids, days: weeksBefore(day) });
        for (const watcher of watchers) {
          const standing = places.standings.get(watcher.uuid);
          if (!standing) dismiss(watcher);
          else if (this.show(watcher, explain(standing, places, now)))
            this.delay.observe((performance.now() - watcher.lateSinceMs!) / 1000);
          this.settle(waitlistId, watcher, { revision: places.waitlist.revision, day });
        }
      } catch (error) {
        if (error instanceof Problem && error.code === 'WAITLIST_NOT_FOUND') return watchers.forEach(dismiss);
        if (!isUnavailable(error)) for (const watcher of watchers) this.settle(waitlistId, watcher, { revision, day });
        throw error;
      }
    });
  }

  /** Puts a watcher behind the others: if the waitlist changes again before all had their turn, those come first. */
  private settle(waitlistId: number, watcher: Watcher, as: Pick<Watcher, 'revision' | 'day'>): void {
    Object.assign(watcher, { ...as, lateSinceMs: null });
    const watchers = this.watchers.get(waitlistId);
    if (watchers?.delete(watcher)) watchers.add(watcher);
  }

  /** Whether the place had changed and was sent. */
  private show(watcher: Watcher, place: Place): boolean {
    const text = JSON.stringify(PlaceDto.from(place));
    if (text === watcher.sent) return false;
    watcher.stream.send('place', text);
    watcher.sent = text;
    watcher.sentAtMs = performance.now();
    return true;
  }

  /**
   * Works, then waits until the event loop was active for at most one part in {@link BUDGET} of the time. All that the
   * loop did meanwhile counts. The wait is at least as long as the work, which leaves half of the time to the database.
   */
  private async withinBudget(work: () => Promise<void>): Promise<void> {
    const startedAtMs = performance.now();
    const before = performance.eventLoopUtilization();
    await work();
    const { active } = performance.eventLoopUtilization(before);
    const pauseMs = Math.max((BUDGET - 1) * active, performance.now() - startedAtMs);
    await setTimeout(pauseMs, undefined, { signal: this.end.signal }).catch(() => undefined);
  }

  private comment(): void {
    const nowMs = performance.now();
    for (const watchers of this.watchers.values())
      for (const watcher of watchers) {
        if (watcher.commentAtMs > nowMs) continue;
        watcher.commentAtMs = nowMs + COMMENT_MS;
        watcher.stream.comment();
      }
  }
}

/** Those whose place may have changed, and who had their last event long enough ago. */
function lateOf(watchers: Iterable<Watcher>, revision: number): Watcher[] {
  const nowMs = performance.now();
  // The estimate changes with the day.
  const day = dayOf(new Date());
  const late = [...watchers].filter(
    (watcher) =>
      (watcher.revision !== revision || watcher.day !== day) && watcher.sentAtMs <= nowMs - UPDATE_MS + JITTER_MS,
  );
  for (const watcher of late) watcher.lateSinceMs ??= nowMs;
  return late;
}

/** The person was erased, or the waitlist deleted. */
function dismiss({ stream }: Watcher): void {
  stream.send('end', '{}');
  stream.close();
}
