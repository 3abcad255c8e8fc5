import { generateSync } from 'otplib';
import { ahead } from './clock.js';

const STEP_MS = 30_000;

/** An authenticator app, and a clock that stands still in the middle of a step. A test moves it by whole steps. */
export class Authenticator {
  private readonly startMs = Math.ceil(Date.now() / STEP_MS) * STEP_MS + STEP_MS / 2;

  constructor(readonly secret: string) {}

  /** The code of a step; 0 is the one in which the clock starts. */
  code(step: number): string {
    return generateSync({ secret: this.secret, epoch: Math.floor(this.timeOf(step) / 1000) });
  }

  /** A code of none of the first steps. */
  get wrongCode(): string {
    const codes = Array.from({ length: 20 }, (_, index) => this.code(index - 5));
    return ['000000', '111111', '222222'].find((code) => !codes.includes(code))!;
  }

  /** Works while the clock stands at a step. */
  async at<Result>(step: number, work: () => Promise<Result>): Promise<Result> {
    return ahead(this.timeOf(step) - Date.now(), work);
  }

  private timeOf(step: number): number {
    return this.startMs + step * STEP_MS;
  }
}
