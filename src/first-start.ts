import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { AuthService } from './auth/auth.service.js';
import { type Config, ConfigError } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { WaitlistService } from './waitlist/waitlist.service.js';

const EMAIL_DEFAULT = 'owner@example.com';

/**
 * Makes the first account where there is none, and with the embedded database a first waitlist. Gives what to tell the
 * person at the terminal, and only there: it may hold a password.
 */
export async function prepareFirstStart(app: INestApplicationContext, config: Config): Promise<string> {
  const auth = app.get(AuthService);
  const { isEmbedded } = app.get(Database);
  const { email = isEmbedded ? EMAIL_DEFAULT : undefined, password = isEmbedded ? randomPassword() : undefined } =
    config.firstOwner;
  const base = config.publicBaseUrl;
  const running = `Waitlist Service is running on ${base}  (documentation: ${base}/docs)\n`;
  if (await auth.hasAccounts()) return running;
  if (email === undefined) return `${running}There is no account yet: npm run cli -- owner create <email>\n`;
  if (password === undefined) throw new ConfigError('OWNER_PASSWORD: is required with OWNER_EMAIL');

  const account = await auth.createAccount(email, password);
  const printed = config.firstOwner.password === undefined ? password : '(from OWNER_PASSWORD)';
  if (!isEmbedded) return `${running}Made the account ${account.email}.\n`;
  const { waitlist, apiKey } = await app.get(WaitlistService).create(account.id, {
    name: 'My waitlist',
    urlLocation: `${base}/`,
  });
  return `${running}
This is the first start, so it made an account and a waitlist. Keep these; they are shown only now:

  email     ${account.email}
  password  ${printed}
  api key   ${apiKey}  (waitlist ${waitlist.id}, "${waitlist.name}")

Try it:

  curl -X POST ${base}/api/v1/signup -H 'Content-Type: application/json' -d '{"waitlist_id": ${waitlist.id}, "email": "ada@example.com"}'
  curl '${base}/api/v1/signup?waitlist_id=${waitlist.id}&email=ada@example.com'

`;
}

function randomPassword(): string {
  return randomBytes(18).toString('base64url');
}
