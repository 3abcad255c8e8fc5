import { Command } from 'commander';
import { addApiKey } from './cli/api-key.js';
import { addAudit } from './cli/audit.js';
import { addMember } from './cli/member.js';
import { addMigrate } from './cli/migrate.js';
import { addOwner } from './cli/owner.js';
import { addRebuild } from './cli/rebuild.js';
import { addVerify } from './cli/verify.js';
import { addWaitlist } from './cli/waitlist.js';
import { addWebhook } from './cli/webhook.js';
import { VERSION } from './platform/config/version.js';

const program = new Command('npm run cli --')
  .description('Administration of the waitlist service.')
  .version(VERSION, '--version', 'print the version')
  .showHelpAfterError('(add --help for usage)');
// In the order of the help.
for (const add of [
  addOwner,
  addMember,
  addApiKey,
  addAudit,
  addWaitlist,
  addMigrate,
  addWebhook,
  addVerify,
  addRebuild,
])
  add(program);

// As in start.ts: a command may create the embedded database.
process.umask(0o077);
try {
  await program.parseAsync();
} catch (error) {
  const { explainStartFailure } = await import('./boot/start-failure.js');
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exitCode = 1;
}
