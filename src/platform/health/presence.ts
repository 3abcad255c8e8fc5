import { Injectable } from '@nestjs/common';

/** Whether this process still wants work. One that leaves answers what comes, and tells balancers to stop sending. */
@Injectable()
export class Presence {
  private leaving = false;

  get isLeaving(): boolean {
    return this.leaving;
  }

  leave(): void {
    this.leaving = true;
  }
}
