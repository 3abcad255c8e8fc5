import type { Command } from 'commander';
import { JSON_OPTION, print, printRow } from './output.js';
import { readPassword } from './password.js';
import { withServices } from './services.js';

export function addOwner(program: Command): void {
  const owner = program.command('owner').description('manage service accounts');
  owner
    .command('create <email>')
    .description('create an account; reads the password from OWNER_PASSWORD or standard input')
    .action((email: string) =>
      withServices(async ({ auth, ownerPassword }) => {
        const account = await auth.createAccount(email, ownerPassword ?? (await readPassword()));
        print(`Created the account ${account.email}.`);
      }),
    );
  owner
    .command('set-password <email>')
    .description('set a new password and revoke all tokens; reads the password from OWNER_PASSWORD or standard input')
    .action((email: string) =>
      withServices(async ({ auth, ownerPassword }) => {
        const { disabledAt } = await auth.setPassword(email, ownerPassword ?? (await readPassword()));
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
    .description('let a disabled account log in again; earlier sessions stay revoked')
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
          const row = {
            id,
            email,
            disabled_at: disabledAt?.toISOString() ?? null,
            created_at: createdAt.toISOString(),
          };
          printRow(options, row, `${id}\t${email}\t${disabledAt ? 'disabled' : 'active'}\t${row.created_at}`);
        }
      }),
    );
}
