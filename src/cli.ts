import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import type * as administration from './boot/cli-services.js';
import { ID_RULE, parseId } from './platform/contract/formats.js';
import { Problem } from './platform/problems/problem.js';
import type { OnProgress, QueueAuditor } from './queue/maintenance/auditor.js';

/** The largest number tested. */
const SEED_MAX = 10_000_000;

const program = new Command('npm run cli --')
  .description("The owner's administration of the waitlist service.")
  .showHelpAfterError('(add --help to see what there is)');

const owner = program.command('owner').description('service accounts');
owner
  .command('create <email>')
  .description('make an account; its password comes from OWNER_PASSWORD or standard input')
  .action((email: string) =>
    withRooms(async ({ auth }) => {
      const account = await auth.createAccount(email, await readPassword());
      print(`Made the account ${account.email}.`);
    }),
  );
owner
  .command('set-password <email>')
  .description('set a password and end all tokens; it comes from OWNER_PASSWORD or standard input')
  .action((email: string) =>
    withRooms(async ({ auth }) => {
      await auth.setPassword(email, await readPassword());
      print('Set the password and ended all tokens.');
    }),
  );
owner
  .command('disable <email>')
  .description("end an account's access at once")
  .action((email: string) =>
    withRooms(async ({ auth }) => {
      await auth.disable(email);
      print('Disabled the account.');
    }),
  );

const waitlist = program.command('waitlist').description('waitlists');
waitlist
  .command('create')
  .description('make a waitlist; its API key is shown this once')
  .argument('<name>', 'its name')
  .requiredOption('--owner <email>', 'the account that owns it')
  .requiredOption('--url <url>', 'the page where people sign up')
  .action((name: string, options: { owner: string; url: string }) =>
    withRooms(async ({ auth, waitlists, readSettings }) => {
      const settings = readSettings({ waitlist_name: name, waitlist_url_location: options.url });
      const account = await auth.getAccount(options.owner);
      const made = await waitlists.create(account.id, settings);
      print(`Made waitlist ${made.waitlist.id} with the API key ${made.apiKey}`);
    }),
  );
waitlist
  .command('list')
  .description("an account's waitlists: id, name, active and offboarded records")
  .requiredOption('--owner <email>', 'the account that owns them')
  .action((options: { owner: string }) =>
    withRooms(async ({ auth, waitlists }) => {
      const account = await auth.getAccount(options.owner);
      for (const { id, name, active, offboarded } of await waitlists.list(account.id)) {
        print(`${id}\t${name}\t${active} active\t${offboarded} offboarded`);
      }
    }),
  );

program
  .command('migrate')
  .description('bring the database to the newest schema')
  .action(() =>
    withRooms(
      async ({ database }) => {
        const names = await database.migrate();
        print(names.length > 0 ? names.map((name) => `Ran ${name}`).join('\n') : 'The schema is the newest.');
      },
      { needsSchema: false },
    ),
  );

waitlist
  .command('seed')
  .description('fill an empty waitlist with invented people, for trials')
  .argument('<waitlist>', 'its number', waitlistId)
  .requiredOption('--count <number>', 'how many', seedCount)
  .action((id: number, { count }: { count: number }) =>
    withRooms(async ({ seeder }) => {
      await withProgress('Seeding', (onProgress) => seeder.seed(id, count, onProgress));
      print(`Put ${count} people on waitlist ${id}.`);
    }),
  );

program
  .command('verify')
  .description('hold every counter, key and count of a waitlist, or of all, against its records; on a live database')
  .argument('[waitlist]', 'its number; all if left out', waitlistId)
  .action((id: number | undefined) =>
    withRooms(async ({ auditor, purger }) => {
      let isSound = true;
      await withWaitlists(auditor, id, async (waitlist) => {
        const { records, findings, differences } = await withProgress(`Waitlist ${waitlist}`, (onProgress) =>
          auditor.verify(waitlist, onProgress),
        );
        print(`Waitlist ${waitlist}: ${records} records, ${differences === 0 ? 'all right' : `${differences} differ`}`);
        for (const line of findings) print(`  ${line}`);
        isSound &&= differences === 0;
      });
      for (const closed of id === undefined ? await purger.closedIds() : [])
        print(`Waitlist ${closed} is being deleted`);
      for (const orphan of id === undefined ? await purger.orphanIds() : []) {
        print(`Waitlist ${orphan} is gone, but not all of its records: rebuild deletes them`);
        isSound = false;
      }
      if (!isSound) process.exitCode = 1;
    }),
  );

program
  .command('rebuild')
  .description(
    'derive every counter, key and count of a waitlist, or of all, anew; signups are told to come back meanwhile',
  )
  .argument('[waitlist]', 'its number; all if left out', waitlistId)
  .action((id: number | undefined) =>
    withRooms(async ({ auditor, purger }) => {
      await withWaitlists(auditor, id, async (waitlist) => {
        const { changed } = await withProgress(`Waitlist ${waitlist}`, (onProgress) =>
          auditor.rebuild(waitlist, onProgress),
        );
        print(`Waitlist ${waitlist}: rebuilt, ${changed} records changed`);
      });
      for (const gone of id === undefined ? [...(await purger.closedIds()), ...(await purger.orphanIds())] : []) {
        const isDone = await purger.purge(gone);
        print(`Waitlist ${gone}: ${isDone ? 'deleted what remained of it' : 'is being deleted by another process'}`);
      }
    }),
  );

/** Does the work for the waitlist named, or for all: one that was deleted meanwhile or is damaged does not stop the rest. */
async function withWaitlists(auditor: QueueAuditor, id: number | undefined, work: (id: number) => Promise<void>) {
  if (id !== undefined) return work(id);
  for (const waitlist of await auditor.waitlistIds()) {
    try {
      await work(waitlist);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'WAITLIST_NOT_FOUND') print(`Waitlist ${waitlist}: was deleted meanwhile`);
      else if (error.code === 'DAMAGED_BEYOND_REBUILD') {
        print(error.message);
        process.exitCode = 1;
      } else throw error;
    }
  }
}

/** Shows how far long work is, how fast it goes and how long it will take: at a terminal only, and not in its output. */
async function withProgress<Result>(what: string, work: (onProgress: OnProgress) => Promise<Result>): Promise<Result> {
  const bar = new SingleBar({
    format: `${what} {bar} {value}/{total}, {rate}/s, {eta_formatted} left`,
    stream: process.stderr,
    noTTYOutput: false,
    clearOnComplete: true,
  });
  const start = performance.now();
  bar.start(0, 0, { rate: 0 });
  try {
    return await work((done, total) => {
      bar.setTotal(total);
      bar.update(done, { rate: Math.round((done * 1000) / (performance.now() - start)) });
    });
  } finally {
    bar.stop();
  }
}

function waitlistId(value: string): number {
  const id = parseId(value);
  if (id === null) throw new InvalidArgumentError(`It ${ID_RULE}.`);
  return id;
}

function seedCount(value: string): number {
  const count = Number(value);
  if (/^[1-9]\d*$/.test(value) && count <= SEED_MAX) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${SEED_MAX}.`);
}

// Imported only when a command runs: loading the service takes a second, and help or a mistyped command needs none of it.
async function withRooms(...call: Parameters<typeof administration.withRooms>): Promise<void> {
  return (await import('./boot/cli-services.js')).withRooms(...call);
}

async function readPassword(): Promise<string> {
  if (process.env.OWNER_PASSWORD) return process.env.OWNER_PASSWORD;
  return process.stdin.isTTY ? askPassword() : (await text(process.stdin)).replace(/\r?\n$/, '');
}

/** Asks at the terminal, where what is typed is not shown. */
async function askPassword(): Promise<string> {
  process.stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.once('SIGINT', () => process.exit(130));
  const password = await terminal.question('');
  terminal.close();
  process.stderr.write('\n');
  return password;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

// As in start.ts, for here too the embedded database may be made.
process.umask(0o077);
try {
  await program.parseAsync();
} catch (error) {
  const { explainStartFailure } = await import('./boot/start-failure.js');
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exitCode = 1;
}
