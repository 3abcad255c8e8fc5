import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

/** A probe is told within about this time, and all that ask meanwhile are told the same: no flood of them reaches the database. */
const PROBE_MS = 1_000;

/** Whether this process can do its work, which is whether its database can. */
@Injectable()
export class Readiness {
  private probe: Promise<void> = Promise.resolve();
  private probedAtMs = -Infinity;

  constructor(private readonly database: Database) {}

  /** @throws Problem `unavailable` */
  async check(): Promise<void> {
    if (performance.now() - this.probedAtMs > PROBE_MS) {
      this.probedAtMs = performance.now();
      this.probe = this.database.probe(PROBE_MS);
    }
    await this.probe;
  }
}
