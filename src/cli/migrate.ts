import type { Command } from 'commander';
import { print } from './output.js';
import { withServices } from './services.js';

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('upgrade the database to the current schema')
    .option('--force', 'migrate from v0.2.0 although other connections use the database')
    .option('--check-settings', 'refuse the settings that a start of the service would refuse')
    .action(({ force: isForced, checkSettings: checksSettings }: { force?: true; checkSettings?: true }) =>
      withServices(
        async ({ migrate, checkFirstOwner }) => {
          const names = await migrate({ isForced });
          print(names.length > 0 ? names.map((name) => `Ran ${name}`).join('\n') : 'The schema is up to date.');
          if (checksSettings) await checkFirstOwner();
        },
        { needsSchema: false, checksSettings },
      ),
    );
}
