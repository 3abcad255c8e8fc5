import 'reflect-metadata';
import { text } from 'node:stream/consumers';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Command } from 'commander';
import { AppModule } from './app.module.js';
import { AuthService } from './auth/auth.service.js';
import { readConfig } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { explainStartFailure } from './platform/start-failure.js';
import { WaitlistService } from './waitlist/waitlist.service.js';

const program = new Command('cli')
  .description("The owner's administration of the waitlist service.")
  .showHelpAfterError();

const owner = program.command('owner').description('service accounts');
owner
  .command('create <email>')
  .description('make an account; its password comes from OWNER_PASSWORD or standard input')
  .action((email: string) =>
    withApp(async (app) => {
      const account = await app.get(AuthService).createAccount(email, await readPassword());
      print(`Made the account ${account.email}.`);
    }),
  );
owner
  .command('set-password <email>')
  .description('set a password and end all tokens; from OWNER_PASSWORD or standard input')
  .action((email: string) =>
    withApp(async (app) => {
      await app.get(AuthService).setPassword(email, await readPassword());
      print('Set the password and ended all tokens.');
    }),
  );
owner
  .command('disable <email>')
  .description("end an account's access at once")
  .action((email: string) =>
    withApp(async (app) => {
      await app.get(AuthService).disable(email);
      print('Disabled the account.');
    }),
  );

const waitlist = program.command('waitlist').description('waitlists');
waitlist
  .command('create <name>')
  .description('make a waitlist; its API key is shown this once')
  .requiredOption('--owner <email>', 'the account that owns it')
  .requiredOption('--url <url>', 'the page where people sign up')
  .action((name: string, options: { owner: string; url: string }) =>
    withApp(async (app) => {
      const account = await app.get(AuthService).getAccount(options.owner);
      const made = await app.get(WaitlistService).create(account.id, { name, urlLocation: options.url });
      print(`Made waitlist ${made.waitlist.id} with the API key ${made.apiKey}`);
    }),
  );
waitlist
  .command('list')
  .description("an account's waitlists")
  .requiredOption('--owner <email>', 'the account that owns them')
  .action((options: { owner: string }) =>
    withApp(async (app) => {
      const account = await app.get(AuthService).getAccount(options.owner);
      for (const { id, name, totals } of await app.get(WaitlistService).list(account.id)) {
        print(`${id}\t${name}\t${totals.active} active\t${totals.offboarded} offboarded`);
      }
    }),
  );

program
  .command('migrate')
  .description('bring the database to the newest schema')
  .action(() =>
    withApp(
      async (app) => {
        const names = await app.get(Database).migrate();
        print(names.length > 0 ? names.map((name) => `Ran ${name}`).join('\n') : 'The schema is the newest.');
      },
      { needsSchema: false },
    ),
  );

/** Runs one command on the service's own parts, without its HTTP server. */
async function withApp(
  command: (app: INestApplicationContext) => Promise<void>,
  { needsSchema = true } = {},
): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule.of(readConfig()), {
    logger: false,
    abortOnError: false,
  });
  try {
    if (needsSchema) await app.get(Database).prepareSchema();
    await command(app);
  } finally {
    await app.close();
  }
}

async function readPassword(): Promise<string> {
  return process.env.OWNER_PASSWORD ?? (await text(process.stdin)).replace(/\r?\n$/, '');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exitCode = 1;
}
