import type { Command } from 'commander';
import { positiveInteger } from './arguments.js';
import { forEachWaitlist } from './each-waitlist.js';
import { JSON_OPTION, printRow, withProgress } from './output.js';
import { withServices } from './services.js';

/** `missing`: records remain, but their waitlist is lost. */
type WaitlistState = 'sound' | 'damaged' | 'deleted' | 'being_deleted' | 'missing';

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('compare all counters and keys with the records; safe on a live database')
    .argument('[waitlist]', 'the id of the waitlist; all waitlists if omitted', positiveInteger)
    .option(...JSON_OPTION)
    .action((id: number | undefined, options: { json?: true }) =>
      withServices(async ({ auditor, purger }) => {
        const report = (waitlist_id: number, state: WaitlistState, line: string, details: object = {}) => {
          printRow(options, { waitlist_id, state, ...details }, `Waitlist ${waitlist_id}${line}`);
          if (state === 'damaged' || state === 'missing') process.exitCode = 1;
        };
        const verify = async (waitlist: number) => {
          const { records, findings, differences } = await withProgress(`Waitlist ${waitlist}`, (onProgress) =>
            auditor.verify(waitlist, onProgress),
          );
          const result = differences === 0 ? 'all right' : `${differences} differ`;
          const lines = [`: ${records} records, ${result}`, ...findings.map((finding) => `  ${finding}`)];
          const details = { records, differences, findings };
          report(waitlist, differences === 0 ? 'sound' : 'damaged', lines.join('\n'), details);
        };
        await forEachWaitlist(auditor, id, verify, (waitlist) =>
          report(waitlist, 'deleted', ': was deleted meanwhile'),
        );
        if (id !== undefined) return;
        for (const closed of await purger.deletedIds()) report(closed, 'being_deleted', ' is being deleted');
        for (const orphan of await purger.orphanIds()) {
          const line = ': its row is missing, but some of its records remain; restore it from a backup';
          report(orphan, 'missing', line);
        }
      }),
    );
}
