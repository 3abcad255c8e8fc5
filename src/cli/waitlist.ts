import type { Command } from 'commander';
import { positiveInteger } from './arguments.js';
import { JSON_OPTION, print, printRow, withProgress } from './output.js';
import { withServices } from './services.js';
import { addExport } from './export.js';
import { addImport } from './import.js';

/** The questions of one waitlist can have 64 KiB. */
const WAITLISTS_PER_READ = 100;

export function addWaitlist(program: Command): void {
  const waitlist = program.command('waitlist').description('manage waitlists');
  waitlist
    .command('create')
    .description('create a waitlist and show its API key, which cannot be shown again')
    .argument('<name>', 'the name of the waitlist')
    .requiredOption('--owner <email>', 'an owner of its account')
    .option('--url <url>', 'the page where people sign up; without it, the page of this service')
    .action((name: string, options: { owner: string; url?: string }) =>
      withServices(async ({ accounts, waitlists, readSettings, operatorWrite }) => {
        const settings = readSettings({ waitlist_name: name, waitlist_url_location: options.url ?? null });
        const account = await accounts.getByOwner(options.owner);
        const created = await waitlists.create(settings, operatorWrite(account.id));
        const { id, publicKey } = created.waitlist;
        print(`Created waitlist ${id} with the public key ${publicKey} and the API key ${created.apiKey}`);
      }),
    );
  waitlist
    .command('list')
    .description('list the waitlists of an account: id, name, active, offered and offboarded records, public key')
    .requiredOption('--owner <email>', 'an owner of their account')
    .option(...JSON_OPTION)
    .action((options: { owner: string; json?: true }) =>
      withServices(async ({ accounts, waitlists, allOf }) => {
        const account = await accounts.getByOwner(options.owner);
        let afterId: number | null = null;
        do {
          const page = await waitlists.list(allOf(account.id), { afterId, limit: WAITLISTS_PER_READ });
          for (const { id, name, active, offered, offboarded, publicKey } of page.waitlists) {
            const counts = { current_signups: active, offered_signups: offered, offboarded_signups: offboarded };
            const row = { id, waitlist_name: name, ...counts, public_key: publicKey };
            const shown = `${active} active\t${offered} offered\t${offboarded} offboarded`;
            printRow(options, row, `${id}\t${name}\t${shown}\t${publicKey}`);
          }
          afterId = page.nextAfterId;
        } while (afterId !== null);
      }),
    );
  waitlist
    .command('seed')
    .description('fill an empty waitlist with generated people, for trials')
    .argument('<waitlist>', 'the id of the waitlist', positiveInteger)
    .requiredOption('--count <number>', 'how many people', positiveInteger)
    .action((id: number, { count }: { count: number }) =>
      withServices(async ({ seeder }) => {
        await withProgress('Seeding', (onProgress) => seeder.seed(id, count, onProgress));
        print(`Added ${count} people to waitlist ${id}.`);
      }),
    );
  addExport(waitlist);
  addImport(waitlist);
}
