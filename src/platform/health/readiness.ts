import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

/** The timeout of a probe, and how long its result is reused, so that a flood of probes does not reach the database. */
const PROBE_MS = 1_000;

/** A process is ready if its database answers. */
@Injectable()
export class Readiness {
  private probe: Promise<void> = Promise.resolve();
  private probedAtMs = -Infinity;

  constructor(private readonly database: Database) {}

  /** @throws Problem `DATABASE_UNAVAILABLE` */
  async check(): Promise<void> {
    if (performance.now() - this.probedAtMs > PROBE_MS) {
      this.probedAtMs = performance.now();
      this.probe = this.database.probe(PROBE_MS);
    }
    await this.probe;
  }
}
