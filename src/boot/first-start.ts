import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { AuthService } from '../auth/auth.service.js';
import { type Config, ConfigError } from '../platform/config/config.js';
import { Problem } from '../platform/problems/problem.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';

const EMAIL_DEFAULT = 'owner@example.com';
const PASSWORD_BYTES = 18;

/**
 * Makes the first account where there is none, and with the embedded database a first waitlist. Gives what to tell the
 * person at the terminal, and only there: it may hold a password.
 */
export async function prepareFirstStart(app: INestApplicationContext, config: Config): Promise<string> {
  const base = config.publicBaseUrl;
  const running = `Waitlist Service is running on ${base}  (documentation: ${base}/docs)\n`;
  const auth = app.get(AuthService);
  if (await auth.hasAccounts()) return running;
  return `${running}${await (config.database.kind === 'sqlite' ? welcome : makeOwner)(app, config)}`;
}

/** A shared database: only the account that the environment names, which another replica may make at the same time. */
async function makeOwner(app: INestApplicationContext, { firstOwner: { email, password } }: Config): Promise<string> {
  if (email === undefined) return 'There is no account yet: npm run cli -- owner create <email>\n';
  if (password === undefined) throw new ConfigError('OWNER_PASSWORD: is required with OWNER_EMAIL');
  try {
    const account = await createOwner(app, email, password);
    return `Made the account ${account.email}.\n`;
  } catch (error) {
    if (error instanceof Problem && error.code === 'ACCOUNT_EXISTS') return '';
    throw error;
  }
}

async function welcome(app: INestApplicationContext, config: Config): Promise<string> {
  const { email = EMAIL_DEFAULT, password = randomBytes(PASSWORD_BYTES).toString('base64url') } = config.firstOwner;
  const base = config.publicBaseUrl;
  const account = await createOwner(app, email, password);
  const { waitlist, apiKey } = await app.get(WaitlistService).create(account.id, {
    name: 'My waitlist',
    urlLocation: `${base}/`,
  });
  const isOurs = config.firstOwner.password === undefined;
  const examples = new URLSearchParams({ email: account.email, ...(isOurs && { password }), api_key: apiKey });
  return `
This is the first start, so it made an account and a waitlist. Keep these; they are shown only now:

  email     ${account.email}
  password  ${isOurs ? password : '(from OWNER_PASSWORD)'}
  api key   ${apiKey}  (waitlist ${waitlist.id}, "${waitlist.name}")

Try it in another terminal:

  curl -X POST ${base}/api/v1/signup -H 'Content-Type: application/json' -d '{"waitlist_id": ${waitlist.id}, "email": "ada@example.com"}'
  curl '${base}/api/v1/signup?waitlist_id=${waitlist.id}&email=ada@example.com'

or in a browser, where this link fills in the examples:

  ${base}/docs#${examples.toString()}

${whereDataIs(config)} Ctrl-C stops the service.
`;
}

/** Whether a password is easily guessed is found out only here: that takes lists which no other start needs. */
async function createOwner(app: INestApplicationContext, email: string, password: string) {
  try {
    return await app.get(AuthService).createAccount(email, password);
  } catch (error) {
    const fault = error instanceof Problem && error.fields?.find(({ field }) => field === 'password');
    throw fault ? new ConfigError(`OWNER_PASSWORD: ${fault.message}`) : error;
  }
}

function whereDataIs({ database }: Config): string {
  if (database.kind !== 'sqlite' || database.file === ':memory:') return 'Nothing is kept when it stops.';
  return `Everything is kept in ${relative('', database.file)}.`;
}
