import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Problem } from '../problems/problem.js';

/** The timeout of a probe, and how long its result is reused, so that a flood of probes does not reach the database. */
const PROBE_MS = 1_000;

/** The phase of this process between its start and its end. A stopping process still answers, but is not ready. */
@Injectable()
export class Lifecycle {
  /** Set when load balancers should stop sending requests. */
  isStopping = false;
  private startedAtMs = Infinity;
  private probe: Promise<void> = Promise.resolve();
  private probedAtMs = -Infinity;

  constructor(private readonly database: Database) {}

  /** Negative until the start is complete. */
  get sinceStartMs(): number {
    return performance.now() - this.startedAtMs;
  }

  /** Call when the service listens and its first account exists. */
  markStarted(): void {
    this.startedAtMs = performance.now();
  }

  /** @throws Problem `STARTING`, `SHUTTING_DOWN`, `DATABASE_UNAVAILABLE` */
  async requireReady(): Promise<void> {
    if (this.isStopping) throw new Problem('SHUTTING_DOWN');
    if (this.sinceStartMs < 0) throw new Problem('STARTING');
    if (performance.now() - this.probedAtMs > PROBE_MS) {
      this.probedAtMs = performance.now();
      this.probe = this.database.probe(PROBE_MS);
    }
    await this.probe;
  }
}
