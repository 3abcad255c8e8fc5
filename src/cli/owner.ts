import type { Command } from 'commander';
import { JSON_OPTION, print, printRow } from './output.js';
import { setPassword } from './member.js';
import { readPassword } from './password.js';
import { withServices } from './services.js';

export function addOwner(program: Command): void {
  const owner = program.command('owner').description('manage service accounts');
  owner
    .command('create <email>')
    .description(
      'create an account with an owner; reads the password from OWNER_PASSWORD or standard input, unless PASSWORD_LOGIN is false',
    )
    .action((email: string) =>
      withServices(async ({ accounts, ownerPassword, passwordLogin }) => {
        const password = passwordLogin ? (ownerPassword ?? (await readPassword())) : null;
        const { owner } = await accounts.create(email, password);
        print(`Created the account ${owner.email}.`);
      }),
    );
  owner.command('set-password <email>').description('the same as `member set-password`').action(setPassword);
  owner
    .command('disable <email>')
    .description('end the access of an account at once, with all its members and keys')
    .action((email: string) =>
      withServices(async ({ accounts }) => {
        await accounts.disable(email);
        print('Disabled the account.');
      }),
    );
  owner
    .command('enable <email>')
    .description('let the members of a disabled account log in again; earlier logins and keys stay ended')
    .action((email: string) =>
      withServices(async ({ accounts }) => {
        await accounts.enable(email);
        print('Enabled the account.');
      }),
    );
  owner
    .command('list')
    .description('list all accounts: id, email of an owner, active or disabled, time of creation')
    .option(...JSON_OPTION)
    .action((options: { json?: true }) =>
      withServices(async ({ accounts }) => {
        for (const { id, ownerEmail: email, disabledAt, createdAt } of await accounts.list()) {
          const row = {
            id,
            email,
            disabled_at: disabledAt?.toISOString() ?? null,
            created_at: createdAt.toISOString(),
          };
          printRow(options, row, `${id}\t${email ?? '-'}\t${disabledAt ? 'disabled' : 'active'}\t${row.created_at}`);
        }
      }),
    );
}
