import { Injectable } from '@nestjs/common';

/** Where this process stands between its start and its end. One that is stopping still answers, but is not ready. */
@Injectable()
export class Lifecycle {
  private stopping = false;
  private startedAtMs = Infinity;

  /** Negative until the start is complete. */
  get sinceStartMs(): number {
    return performance.now() - this.startedAtMs;
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  /** Call when the service listens and its first account exists. */
  markStarted(): void {
    this.startedAtMs = performance.now();
  }

  /** Call when load balancers should stop sending requests. */
  markStopping(): void {
    this.stopping = true;
  }
}
