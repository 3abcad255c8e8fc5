import { Problem } from '../platform/problems/problem.js';
import type { QueueAuditor } from '../queue/maintenance/auditor.js';
import { print } from './output.js';

/** Works on the given waitlist or on all. A deleted or damaged waitlist does not stop the work on the others. */
export async function forEachWaitlist(
  auditor: QueueAuditor,
  id: number | undefined,
  work: (id: number) => Promise<void>,
  reportDeleted: (id: number) => void,
): Promise<void> {
  if (id !== undefined) return work(id);
  for (const waitlist of await auditor.waitlistIds()) {
    try {
      await work(waitlist);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'WAITLIST_NOT_FOUND') reportDeleted(waitlist);
      else if (error.code === 'DAMAGED_BEYOND_REBUILD') {
        print(error.message);
        process.exitCode = 1;
      } else throw error;
    }
  }
}
