import type { Command } from 'commander';
import { positiveInteger } from './arguments.js';
import { forEachWaitlist } from './each-waitlist.js';
import { print, withProgress } from './output.js';
import { withServices } from './services.js';

export function addRebuild(program: Command): void {
  program
    .command('rebuild')
    .description('derive all counters and keys again; meanwhile signups are asked to retry')
    .argument('[waitlist]', 'the id of the waitlist; all waitlists if omitted', positiveInteger)
    .action((id: number | undefined) =>
      withServices(async ({ auditor, purger }) => {
        const rebuild = async (waitlist: number) => {
          const changed = await withProgress(`Waitlist ${waitlist}`, (onProgress) =>
            auditor.rebuild(waitlist, onProgress),
          );
          print(`Waitlist ${waitlist}: rebuilt, ${changed} records changed`);
        };
        await forEachWaitlist(auditor, id, rebuild, (waitlist) => print(`Waitlist ${waitlist}: was deleted meanwhile`));
        for (const closed of id === undefined ? await purger.deletedIds() : []) {
          const isDone = await purger.purge(closed);
          print(
            `Waitlist ${closed}: ${isDone ? 'deleted the remaining records' : 'is being deleted by another process'}`,
          );
        }
      }),
    );
}
