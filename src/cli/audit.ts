import type { Command } from 'commander';
import { positiveInteger, uuidArgument } from './arguments.js';
import { JSON_OPTION, printRow } from './output.js';
import { withServices } from './services.js';

/** They fit on two screens. */
const AUDIT_EVENTS_SHOWN = 50;

export function addAudit(program: Command): void {
  program
    .command('audit')
    .description(
      'list audit events, newest first: time, account, member, action, waitlist, people, request id, hash of the address',
    )
    .option('--owner <email>', 'only the events of the account with this owner')
    .option('--waitlist <id>', 'only the events of this waitlist', positiveInteger)
    .option('--uuid <uuid>', 'only the events that name this person', uuidArgument)
    .option('--limit <number>', 'how many events at most', positiveInteger, AUDIT_EVENTS_SHOWN)
    .option(...JSON_OPTION)
    .action((options: { owner?: string; waitlist?: number; uuid?: string; limit: number; json?: true }) =>
      withServices(async ({ accounts, listAuditEvents }) => {
        const { waitlist: waitlistId, uuid, limit } = options;
        const account = options.owner === undefined ? null : await accounts.getByOwner(options.owner);
        for (const row of await listAuditEvents(account, { waitlistId, uuid, limit })) {
          const { created_at, user_id, member, action, waitlist_id, uuids, request_id, address_hash } = row;
          const columns = [created_at, user_id, member, action, waitlist_id, uuids.join(' '), request_id, address_hash];
          printRow(options, row, columns.map((column) => column ?? '-').join('\t'));
        }
      }),
    );
}
