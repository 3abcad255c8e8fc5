import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { AccountService } from '../account/account.service.js';
import { type Config, ConfigError } from '../platform/config/config.js';
import { operatorWrite } from '../platform/idempotency/account-write.js';
import { Problem } from '../platform/problems/problem.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';

const EMAIL_DEFAULT = 'owner@example.com';
const PASSWORD_BYTES = 18;
/** Like a new waitlist of the desk: it asks visitors for the email alone, and gives them links to share. */
const WAITLIST = {
  name: 'My waitlist',
  requiredContact: { phone: 'off' },
  display: { widget_shows_social_links: true },
} as const;

/**
 * Creates the first account if there is none, and with the embedded database a first waitlist. Returns the text to show
 * at the terminal. It can hold a password, so it must not be logged.
 */
export async function prepareFirstStart(app: INestApplicationContext, config: Config): Promise<string> {
  const base = config.publicBaseUrl;
  const docs = config.docsEnabled ? `, documentation: ${base}/docs` : '';
  const mail = config.mail ? '' : 'It sends no mail, because SMTP_URL is not set: emails cannot be verified.\n';
  const running = `Waitlist Service is running on ${base}  (desk: ${base}/desk${docs})\n${mail}`;
  if (await app.get(AccountService).hasAny()) return running;
  return `${running}${await (config.database.kind === 'sqlite' ? createFirstWaitlist : createFirstOwner)(app, config)}`;
}

/**
 * Refuses a bad password of a first account that is still to be created. Only then: the check loads word lists, which
 * is slow. @throws ConfigError
 */
export async function checkFirstOwner(app: INestApplicationContext, config: Config): Promise<void> {
  const { database, firstOwner, passwordLogin } = config;
  if (!passwordLogin) return requireFirstEmail(app, config);
  const { email = database.kind === 'sqlite' ? EMAIL_DEFAULT : undefined, password } = firstOwner;
  if (email === undefined || (await app.get(AccountService).hasAny())) return;
  if (password === undefined) {
    if (database.kind === 'sqlite') return;
    throw new ConfigError('OWNER_PASSWORD: is required with OWNER_EMAIL');
  }
  try {
    await app.get(AccountService).requirePassword(password, email);
  } catch (error) {
    const [fault] = (error instanceof Problem && error.fields) || [];
    throw fault ? new ConfigError(`OWNER_PASSWORD: ${fault.message}`) : error;
  }
}

/** Nobody could sign in as the default owner. @throws ConfigError */
async function requireFirstEmail(app: INestApplicationContext, { database, firstOwner }: Config): Promise<void> {
  if (database.kind !== 'sqlite' || firstOwner.email !== undefined || (await app.get(AccountService).hasAny())) return;
  throw new ConfigError('OWNER_EMAIL: is required on a first start with PASSWORD_LOGIN=false');
}

/** On a shared database, only the account that the environment names. Another replica may create it meanwhile. */
async function createFirstOwner(
  app: INestApplicationContext,
  { firstOwner: { email, password }, passwordLogin }: Config,
): Promise<string> {
  if (email === undefined || (passwordLogin && password === undefined))
    return 'There is no account yet. Create one: node dist/src/cli.js owner create <email>\n';
  try {
    const { owner } = await app.get(AccountService).create(email, passwordLogin ? password! : null);
    return `Created the account ${owner.email}.\n`;
  } catch (error) {
    if (error instanceof Problem && error.code === 'ACCOUNT_EXISTS') return '';
    throw error;
  }
}

async function createFirstWaitlist(app: INestApplicationContext, config: Config): Promise<string> {
  const { firstOwner, passwordLogin } = config;
  const { email = EMAIL_DEFAULT, password: given = randomBytes(PASSWORD_BYTES).toString('base64url') } = firstOwner;
  const password = passwordLogin ? given : null;
  const isGenerated = passwordLogin && firstOwner.password === undefined;
  const base = config.publicBaseUrl;
  const { account, owner } = await app.get(AccountService).create(email, password, { isRandom: isGenerated });
  const { waitlist, apiKey } = await app.get(WaitlistService).create(WAITLIST, operatorWrite(account.id));
  const examples = new URLSearchParams({
    email: owner.email,
    ...(isGenerated && { password: given }),
    api_key: apiKey,
  });
  const docs = `or in a browser, where this link fills them into the examples:

  ${base}/docs#${examples.toString()}

`;
  return `
People join here:  ${waitlist.hostedPage}
Run the list here: ${base}/desk

This is the first start. It created an account and a waitlist. Save these values; they are shown only once:

  email     ${owner.email}
  password  ${passwordLogin ? (isGenerated ? given : '(from OWNER_PASSWORD)') : '(none: sign in by single sign-on)'}
  api key   ${apiKey}  (waitlist ${waitlist.id}, "${waitlist.name}")

Try it in another terminal:

  curl -X POST ${base}/api/v1/signup -H 'Content-Type: application/json' -d '{"waitlist_id": ${waitlist.id}, "email": "ada@example.com"}'
  curl '${base}/api/v1/signup?waitlist_id=${waitlist.id}&email=ada@example.com'

${config.docsEnabled ? docs : ''}${dataLocation(config)} Ctrl-C stops the service.
`;
}

function dataLocation({ database }: Config): string {
  if (database.kind !== 'sqlite' || database.file === ':memory:') return 'All data is lost when the service stops.';
  return `All data is kept in ${relative('', database.file)}.`;
}
