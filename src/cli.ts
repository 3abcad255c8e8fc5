import { accessSync, constants, createWriteStream, existsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError, Option } from 'commander';
import type * as cliServices from './boot/cli-services.js';
import { VERSION } from './platform/config/version.js';
import { ID_RULE, parseId, UUID_PATTERN } from './platform/contract/formats.js';
import { PASSWORD_RULE } from './platform/contract/password-rule.js';
import { Problem } from './platform/problems/problem.js';
import type { OnProgress, QueueAuditor } from './queue/maintenance/auditor.js';

const JSON_OPTION = ['--json', 'print one JSON object per line'] as const;
/** The questions of one waitlist can have 64 KiB. */
const WAITLISTS_PER_READ = 100;
/** They fit on two screens. */
const AUDIT_EVENTS_SHOWN = 50;

/** `missing`: records remain, but their waitlist is lost. */
type WaitlistState = 'sound' | 'damaged' | 'deleted' | 'being_deleted' | 'missing';

const program = new Command('npm run cli --')
  .description('Administration of the waitlist service.')
  .version(VERSION, '--version', 'print the version')
  .showHelpAfterError('(add --help for usage)');

const owner = program.command('owner').description('manage service accounts');
owner
  .command('create <email>')
  .description('create an account; reads the password from OWNER_PASSWORD or standard input')
  .action((email: string) =>
    withServices(async ({ auth }) => {
      const account = await auth.createAccount(email, await readPassword());
      print(`Created the account ${account.email}.`);
    }),
  );
owner
  .command('set-password <email>')
  .description('set a new password and revoke all tokens; reads the password from OWNER_PASSWORD or standard input')
  .action((email: string) =>
    withServices(async ({ auth }) => {
      const { disabledAt } = await auth.setPassword(email, await readPassword());
      print('Set the password and revoked all tokens.');
      if (disabledAt) print(`The account is still disabled. Enable it: npm run cli -- owner enable ${email}`);
    }),
  );
owner
  .command('disable <email>')
  .description('revoke the access of an account at once')
  .action((email: string) =>
    withServices(async ({ auth }) => {
      await auth.disable(email);
      print('Disabled the account.');
    }),
  );
owner
  .command('enable <email>')
  .description('let a disabled account log in again; its earlier logins stay ended')
  .action((email: string) =>
    withServices(async ({ auth }) => {
      await auth.enable(email);
      print('Enabled the account.');
    }),
  );
owner
  .command('list')
  .description('list all accounts: id, email, active or disabled, time of creation')
  .option(...JSON_OPTION)
  .action((options: { json?: true }) =>
    withServices(async ({ auth }) => {
      for (const { id, email, disabledAt, createdAt } of await auth.list()) {
        const row = { id, email, disabled_at: disabledAt?.toISOString() ?? null, created_at: createdAt.toISOString() };
        printRow(options, row, `${id}\t${email}\t${disabledAt ? 'disabled' : 'active'}\t${row.created_at}`);
      }
    }),
  );

const apiKey = program.command('api-key').description('manage the keys of an account, for programs of its owner');
apiKey
  .command('create')
  .description('create a key and show it; it cannot be shown again')
  .argument('<email>', 'the account that it belongs to')
  .argument('<name>', 'a name that tells the keys of the account apart')
  .addOption(
    new Option('--scope <scope>', 'what it may do: only read, or also write')
      .choices(['read', 'manage'])
      .default('read'),
  )
  .option('--expires <time>', 'when it expires, such as 2027-01-31T00:00:00Z; never if omitted')
  .option(...JSON_OPTION)
  .action((email: string, name: string, options: { scope: 'read' | 'manage'; expires?: string; json?: true }) =>
    withServices(async ({ auth, createAccountKey }) => {
      const { scope, expires } = options;
      const account = await auth.getAccount(email);
      const created = await createAccountKey(account, { name, scope, expires_at: expires });
      printRow(options, created, `Created the account key ${created.id} (${scope}): ${created.key}`);
    }),
  );
apiKey
  .command('list')
  .description('list the keys of an account: id, first characters, scope, name, times of expiry and of last use')
  .argument('<email>', 'the account that they belong to')
  .option(...JSON_OPTION)
  .action((email: string, options: { json?: true }) =>
    withServices(async ({ auth, listAccountKeys }) => {
      for (const key of await listAccountKeys(await auth.getAccount(email))) {
        const columns = [key.id, key.prefix, key.scope, key.name, key.expires_at, key.last_used_at];
        printRow(options, key, columns.map((column) => column ?? '-').join('\t'));
      }
    }),
  );
apiKey
  .command('revoke')
  .description('end a key at once')
  .argument('<email>', 'the account that it belongs to')
  .argument('<id>', 'the id of the key', positiveInteger)
  .option(...JSON_OPTION)
  .action((email: string, id: number, options: { json?: true }) =>
    withServices(async ({ auth, revokeAccountKey }) => {
      await revokeAccountKey(await auth.getAccount(email), id);
      printRow(options, { id, revoked: true }, `Revoked the account key ${id}.`);
    }),
  );

program
  .command('audit')
  .description(
    'list audit events, newest first: time, account, action, waitlist, people, request id, hash of the address',
  )
  .option('--owner <email>', 'only the events of this account')
  .option('--waitlist <id>', 'only the events of this waitlist', positiveInteger)
  .option('--uuid <uuid>', 'only the events that name this person', uuidArgument)
  .option('--limit <number>', 'how many events at most', positiveInteger, AUDIT_EVENTS_SHOWN)
  .option(...JSON_OPTION)
  .action((options: { owner?: string; waitlist?: number; uuid?: string; limit: number; json?: true }) =>
    withServices(async ({ auth, listAuditEvents }) => {
      const { waitlist: waitlistId, uuid, limit } = options;
      const account = options.owner === undefined ? null : await auth.getAccount(options.owner);
      for (const row of await listAuditEvents(account, { waitlistId, uuid, limit })) {
        const { created_at, user_id, action, waitlist_id, uuids, request_id, address_hash } = row;
        const columns = [created_at, user_id, action, waitlist_id, uuids.join(' '), request_id, address_hash];
        printRow(options, row, columns.map((column) => column ?? '-').join('\t'));
      }
    }),
  );

const waitlist = program.command('waitlist').description('manage waitlists');
waitlist
  .command('create')
  .description('create a waitlist and show its API key, which cannot be shown again')
  .argument('<name>', 'the name of the waitlist')
  .requiredOption('--owner <email>', 'the account that owns it')
  .option('--url <url>', 'the page where people sign up; without it, the page of this service')
  .action((name: string, options: { owner: string; url?: string }) =>
    withServices(async ({ auth, waitlists, readSettings, operatorWrite }) => {
      const settings = readSettings({ waitlist_name: name, waitlist_url_location: options.url ?? null });
      const account = await auth.getAccount(options.owner);
      const created = await waitlists.create(settings, operatorWrite(account.id));
      const { id, publicKey } = created.waitlist;
      print(`Created waitlist ${id} with the public key ${publicKey} and the API key ${created.apiKey}`);
    }),
  );
waitlist
  .command('list')
  .description('list the waitlists of an account: id, name, active and offboarded records, public key')
  .requiredOption('--owner <email>', 'the account that owns them')
  .option(...JSON_OPTION)
  .action((options: { owner: string; json?: true }) =>
    withServices(async ({ auth, waitlists }) => {
      const account = await auth.getAccount(options.owner);
      let afterId: number | null = null;
      do {
        const page = await waitlists.list(account.id, { afterId, limit: WAITLISTS_PER_READ });
        for (const { id, name, active, offboarded, publicKey } of page.waitlists) {
          const counts = { current_signups: active, offboarded_signups: offboarded };
          const row = { id, waitlist_name: name, ...counts, public_key: publicKey };
          printRow(options, row, `${id}\t${name}\t${active} active\t${offboarded} offboarded\t${publicKey}`);
        }
        afterId = page.nextAfterId;
      } while (afterId !== null);
    }),
  );

program
  .command('migrate')
  .description('upgrade the database to the current schema')
  .action(() =>
    withServices(
      async ({ migrate }) => {
        const names = await migrate();
        print(names.length > 0 ? names.map((name) => `Ran ${name}`).join('\n') : 'The schema is up to date.');
      },
      { needsSchema: false },
    ),
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

waitlist
  .command('export')
  .description('write every record of a waitlist, active and offboarded, to a file that can be imported again')
  .argument('<waitlist>', 'the id of the waitlist', positiveInteger)
  .argument('[file]', 'the file; a new one is readable by you only; standard output if omitted', writableFile)
  .addOption(new Option('--format <format>', 'a table or lines of JSON').choices(['csv', 'ndjson']).default('csv'))
  .action((id: number, file: string | undefined, { format }: { format: 'csv' | 'ndjson' }) =>
    withServices(async ({ exports }) => {
      const ended = new AbortController();
      let records = 0;
      try {
        await withProgress('Exporting', async (onProgress) => {
          const text = await exports.open(id, format, ended.signal, (done, total) => {
            records = done;
            if (file !== undefined || !process.stdout.isTTY) onProgress(done, total);
          });
          await (file === undefined ? pipeToStdout(text) : pipeToFile(text, file));
        });
      } finally {
        ended.abort();
      }
      if (file !== undefined) print(`Exported ${records} records of waitlist ${id} to ${file}.`);
    }),
  );
waitlist
  .command('import')
  .description('add the people of a CSV file to a waitlist; run it again to complete an import that was interrupted')
  .argument('<waitlist>', 'the id of the waitlist', positiveInteger)
  .argument('<file>', 'a CSV file; its first line names the columns', readableFile)
  .option('--dry-run', 'only report what the import would do')
  .option(...JSON_OPTION)
  .action((id: number, file: string, options: { dryRun?: true; json?: true }) =>
    withServices(async ({ imports }) => {
      const { dryRun: isDryRun = false } = options;
      const report = await withProgress('Importing', (onProgress) =>
        imports.importFile(file, { waitlistId: id, isDryRun }, ({ done, total }) => onProgress(done, total ?? 0)),
      );
      const { imported, skipped, rejected, unresolved_referrals: unresolved, ignored_columns: ignored } = report;
      const counts = `${imported} imported, ${skipped} skipped, ${rejected} rejected, ${unresolved} unresolved referrals`;
      const lines = [
        `Waitlist ${id}: ${counts}${isDryRun ? ' (dry run: nothing was changed)' : ''}`,
        ...(ignored.length > 0 ? [`  ignored columns: ${ignored.join(', ')}`] : []),
        ...report.errors.map(({ line, field, message }) => `  line ${line}: ${field} ${message}`),
      ];
      printRow(options, report, lines.join('\n'));
    }),
  );

const webhook = program.command('webhook').description('manage webhooks');
webhook
  .command('replay')
  .description('send the deliveries of a webhook again, whatever their status; a running service sends them')
  .argument('<webhook>', 'the id of the webhook', positiveInteger)
  .option('--since <time>', 'only those since then, such as 2026-11-21T09:30:00Z; all of the last 7 days if omitted')
  .addOption(new Option('--delivery <ids...>', 'only these, by their webhook-id').conflicts('since'))
  .option(...JSON_OPTION)
  .action((id: number, options: { since?: string; delivery?: string[]; json?: true }) =>
    withServices(async ({ replayDeliveries }) => {
      const replayed = await replayDeliveries(id, options);
      printRow(options, { webhook_id: id, replayed }, `Webhook ${id}: ${replayed} deliveries are sent again.`);
    }),
  );

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
      await withWaitlists(auditor, id, verify, (waitlist, line) => report(waitlist, 'deleted', line));
      if (id !== undefined) return;
      for (const closed of await purger.deletedIds()) report(closed, 'being_deleted', ' is being deleted');
      for (const orphan of await purger.orphanIds()) {
        const line = ': its row is missing, but some of its records remain; restore it from a backup';
        report(orphan, 'missing', line);
      }
    }),
  );

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
      await withWaitlists(auditor, id, rebuild, (waitlist, line) => print(`Waitlist ${waitlist}${line}`));
      for (const closed of id === undefined ? await purger.deletedIds() : []) {
        const isDone = await purger.purge(closed);
        print(
          `Waitlist ${closed}: ${isDone ? 'deleted the remaining records' : 'is being deleted by another process'}`,
        );
      }
    }),
  );

/** Works on the given waitlist or on all of them. A deleted or damaged waitlist does not stop the work on the others. */
async function withWaitlists(
  auditor: QueueAuditor,
  id: number | undefined,
  work: (id: number) => Promise<void>,
  reportDeleted: (id: number, line: string) => void,
): Promise<void> {
  if (id !== undefined) return work(id);
  for (const waitlist of await auditor.waitlistIds()) {
    try {
      await work(waitlist);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'WAITLIST_NOT_FOUND') reportDeleted(waitlist, ': was deleted meanwhile');
      else if (error.code === 'DAMAGED_BEYOND_REBUILD') {
        print(error.message);
        process.exitCode = 1;
      } else throw error;
    }
  }
}

/** Shows a progress bar on standard error, at a terminal only, once a part of the work is done and a part is left. */
async function withProgress<Result>(what: string, work: (onProgress: OnProgress) => Promise<Result>): Promise<Result> {
  const bar = new SingleBar({
    format: `${what} {bar} {value}/{total}, {eta_formatted} left`,
    stream: process.stderr,
    noTTYOutput: false,
    clearOnComplete: true,
  });
  try {
    return await work((done, total) => {
      if (!bar.isActive && done < total) bar.start(total, done);
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
}

function readableFile(path: string): string {
  if (isAccessible(path, constants.R_OK) && statSync(path).isFile()) return path;
  throw new InvalidArgumentError('It must be a file that you may read.');
}

function writableFile(path: string): string {
  const isThere = existsSync(path);
  if (isAccessible(isThere ? path : dirname(path), constants.W_OK) && !(isThere && statSync(path).isDirectory()))
    return path;
  throw new InvalidArgumentError('It must be a file that you may write.');
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** A file that is not written to its end is deleted. */
async function pipeToFile(source: Readable, path: string): Promise<void> {
  try {
    await pipeline(source, createWriteStream(path));
  } catch (error) {
    if (statSync(path).isFile()) await rm(path);
    throw error;
  }
}

async function pipeToStdout(source: Readable): Promise<void> {
  try {
    await pipeline(source, process.stdout, { end: false });
  } catch (error) {
    // The reader, such as `head`, has enough.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

function uuidArgument(value: string): string {
  if (!new RegExp(UUID_PATTERN).test(value)) throw new InvalidArgumentError('It must be a UUID.');
  return value.toLowerCase();
}

function positiveInteger(value: string): number {
  const number = parseId(value);
  if (number === null) throw new InvalidArgumentError(`It ${ID_RULE}.`);
  return number;
}

// Import the application only to run a command: it takes a second, and help or a mistyped command do not need it.
async function withServices(...call: Parameters<typeof cliServices.withServices>): Promise<void> {
  return (await import('./boot/cli-services.js')).withServices(...call);
}

async function readPassword(): Promise<string> {
  if (process.env.OWNER_PASSWORD) return process.env.OWNER_PASSWORD;
  return process.stdin.isTTY ? askPassword() : (await text(process.stdin)).replace(/\r?\n$/, '');
}

/** Asks at the terminal without an echo, until the same password is given twice. */
async function askPassword(): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.once('SIGINT', () => process.exit(130));
  // The iterator keeps a line that arrives before it is asked for.
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (prompt: string): Promise<string> => {
    process.stderr.write(prompt);
    const line = await lines.next();
    process.stderr.write('\n');
    // Ctrl-D
    if (line.done) process.exit(1);
    return line.value;
  };
  try {
    for (;;) {
      const password = await ask(`Password (${PASSWORD_RULE}): `);
      if (password === (await ask('The same password again: '))) return password;
      process.stderr.write('The two passwords differ. Try again.\n');
    }
  } finally {
    terminal.close();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints the row, with `--json` as an object and otherwise as a line. */
function printRow(options: { json?: true }, row: object, line: string): void {
  print(options.json ? JSON.stringify(row) : line);
}

// As in start.ts: a command may create the embedded database.
process.umask(0o077);
try {
  await program.parseAsync();
} catch (error) {
  const { explainStartFailure } = await import('./boot/start-failure.js');
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exitCode = 1;
}
