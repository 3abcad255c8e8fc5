import { ServiceProcess, until } from '../../test/support/service-process.js';

/** Runs a command of `npm run cli` and returns its output; throws if it fails. */
export async function runCli(databaseUrl: string, ...args: string[]): Promise<string> {
  return outputOf(await ServiceProcess.spawn({ DATABASE_URL: databaseUrl }, 'dist/src/cli.js', ...args));
}

/** The same for another build of the service. */
export async function runCliIn(root: string, databaseUrl: string, ...args: string[]): Promise<string> {
  return outputOf(await ServiceProcess.spawnIn(root, { DATABASE_URL: databaseUrl }, 'dist/src/cli.js', ...args));
}

async function outputOf(command: ServiceProcess): Promise<string> {
  if ((await command.exit) !== 0) throw new Error(command.output);
  return command.output.trim();
}

export async function migrate(databaseUrl: string): Promise<void> {
  await runCli(databaseUrl, 'migrate');
}

/** Fills an empty waitlist with invented people. */
export async function seed(databaseUrl: string, waitlistId: number, count: number): Promise<void> {
  await runCli(databaseUrl, 'waitlist', 'seed', String(waitlistId), '--count', String(count));
}

/** Waits until deleted waitlists are purged, then checks derived data against the records; throws if they differ. */
export async function verify(databaseUrl: string): Promise<void> {
  await until(async () => !(await runCli(databaseUrl, 'verify')).includes('being deleted'));
}
