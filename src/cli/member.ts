import { type Command, Option } from 'commander';
import { JSON_OPTION, print, printRow } from './output.js';
import { readPassword } from './password.js';
import { withServices } from './services.js';

export function addMember(program: Command): void {
  const member = program.command('member').description('manage the members of accounts');
  member
    .command('add <email>')
    .description('invite a member and print the link by which they join, once, within 7 days; it is not mailed')
    .requiredOption('--owner <email>', 'an owner of the account')
    .addOption(
      new Option('--role <role>', 'what the member may do')
        .choices(['viewer', 'editor', 'owner'])
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'the name of the member')
    .action(
      (email: string, { owner, ...fields }: { owner: string; role: 'viewer' | 'editor' | 'owner'; name?: string }) =>
        withServices(async ({ accounts, inviteMember }) => {
          const account = await accounts.getByOwner(owner);
          print(await inviteMember(account, { email, ...fields }));
        }),
    );
  member
    .command('list')
    .description('list members: email, role, status, name, time of the last login, id')
    .option('--owner <email>', 'only the members of the account with this owner')
    .option(...JSON_OPTION)
    .action((options: { owner?: string; json?: true }) =>
      withServices(async ({ accounts, listMembers }) => {
        const account = options.owner === undefined ? null : await accounts.getByOwner(options.owner);
        for await (const row of listMembers(account)) {
          const columns = [row.email, row.role, row.status, row.name, row.last_login_at, row.id];
          printRow(options, row, columns.map((column) => column ?? '-').join('\t'));
        }
      }),
    );
  member
    .command('disable <email>')
    .description('end the access of a member at once')
    .action((email: string) => setActive(email, false));
  member
    .command('enable <email>')
    .description('let a disabled member log in again; earlier logins stay ended')
    .action((email: string) => setActive(email, true));
  member
    .command('remove <email>')
    .description('remove a member; the account keeps the keys that the member made')
    .action((email: string) =>
      withServices(async ({ members, operatorWrite }) => {
        const { id, accountId } = await members.getByEmail(email);
        await members.remove(id, operatorWrite(accountId));
        print('Removed the member.');
      }),
    );
  member
    .command('set-password <email>')
    .description('set a new password and end all logins; reads the password from OWNER_PASSWORD or standard input')
    .action(setPassword);
  member
    .command('reset-two-factor <email>')
    .description('take the second factor from a member who has lost it, and end all logins')
    .action((email: string) =>
      withServices(async ({ members, operatorWrite }) => {
        const { id, accountId, hasTwoFactor } = await members.getByEmail(email);
        await members.resetTwoFactor(id, operatorWrite(accountId));
        print(hasTwoFactor ? 'Removed the second factor and revoked all tokens.' : 'The member has no second factor.');
      }),
    );
}

export async function setPassword(email: string): Promise<void> {
  await withServices(async ({ accounts, members, operatorWrite, ownerPassword }) => {
    const member = await members.getByEmail(email);
    await members.setPassword(member, ownerPassword ?? (await readPassword()), operatorWrite(member.accountId));
    print('Set the password and revoked all tokens.');
    const { disabledAt } = await accounts.get(member.accountId);
    const owner = member.role === 'owner' ? email : '<email of an owner>';
    if (disabledAt) print(`The account is still disabled. Enable it: npm run cli -- owner enable ${owner}`);
    if (member.disabledAt) print(`The member is still disabled. Enable it: npm run cli -- member enable ${email}`);
  });
}

async function setActive(email: string, isActive: boolean): Promise<void> {
  await withServices(async ({ members, operatorWrite }) => {
    const { id, accountId } = await members.getByEmail(email);
    await members.update(id, { isActive }, operatorWrite(accountId));
    print(isActive ? 'Enabled the member.' : 'Disabled the member.');
  });
}
