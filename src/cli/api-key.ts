import { type Command, Option } from 'commander';
import { positiveInteger } from './arguments.js';
import { JSON_OPTION, printRow } from './output.js';
import { withServices } from './services.js';

export function addApiKey(program: Command): void {
  const apiKey = program.command('api-key').description('manage the keys of an account, for its programs');
  apiKey
    .command('create')
    .description('create a key and show it; it cannot be shown again')
    .argument('<email>', 'an owner of the account that it belongs to')
    .argument('<name>', 'a label for the key')
    .addOption(
      new Option('--scope <scope>', 'what it may do: only read, or also write')
        .choices(['read', 'manage'])
        .default('read'),
    )
    .option('--expires <time>', 'when it expires, such as 2027-01-31T00:00:00Z; never if omitted')
    .option(...JSON_OPTION)
    .action((email: string, name: string, options: { scope: 'read' | 'manage'; expires?: string; json?: true }) =>
      withServices(async ({ accounts, createAccountKey }) => {
        const { scope, expires } = options;
        const account = await accounts.getByOwner(email);
        const created = await createAccountKey(account, { name, scope, expires_at: expires });
        printRow(options, created, `Created the account key ${created.id} (${scope}): ${created.key}`);
      }),
    );
  apiKey
    .command('list')
    .description('list the keys of an account: id, first characters, scope, name, times of expiry and of last use')
    .argument('<email>', 'an owner of the account that they belong to')
    .option(...JSON_OPTION)
    .action((email: string, options: { json?: true }) =>
      withServices(async ({ accounts, listAccountKeys }) => {
        for (const key of await listAccountKeys(await accounts.getByOwner(email))) {
          const columns = [key.id, key.prefix, key.scope, key.name, key.expires_at, key.last_used_at];
          printRow(options, key, columns.map((column) => column ?? '-').join('\t'));
        }
      }),
    );
  apiKey
    .command('revoke')
    .description('end a key at once')
    .argument('<email>', 'an owner of the account that it belongs to')
    .argument('<id>', 'the id of the key', positiveInteger)
    .option(...JSON_OPTION)
    .action((email: string, id: number, options: { json?: true }) =>
      withServices(async ({ accounts, revokeAccountKey }) => {
        await revokeAccountKey(await accounts.getByOwner(email), id);
        printRow(options, { id, revoked: true }, `Revoked the account key ${id}.`);
      }),
    );
}
