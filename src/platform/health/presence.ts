import { Injectable } from '@nestjs/common';

/** Whether this process still wants work. One that leaves answers what comes, and tells balancers to stop sending. */
@Injectable()
export class Presence {
  private leaving = false;
  private startedAtMs = Infinity;

  /** Below 0 until all of the start is done. */
  get sinceStartMs(): number {
    return performance.now() - this.startedAtMs;
  }

  /** When the service listens, and its first account is made. */
  start(): void {
    this.startedAtMs = performance.now();
  }

  get isLeaving(): boolean {
    return this.leaving;
  }

  leave(): void {
    this.leaving = true;
  }
}
