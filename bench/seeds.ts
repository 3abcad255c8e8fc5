import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type * as nest from '@nestjs/core';
import { Presets, SingleBar } from 'cli-progress';
import type * as appModule from '../src/app.module.js';
import type * as accountModule from '../src/account/account.service.js';
import type * as memberModule from '../src/account/member.service.js';
import type * as configModule from '../src/platform/config/config.js';
import type * as databaseModule from '../src/platform/database/database.js';
import type * as migrator from '../src/platform/database/migrator.js';
import type * as accountWriteModule from '../src/platform/idempotency/account-write.js';
import type * as purgerModule from '../src/queue/maintenance/purger.js';
import type * as seederModule from '../src/queue/maintenance/seeder.js';
import type * as waitlistModule from '../src/waitlist/waitlist.service.js';
import { built } from './service.js';

/** A list may grow by this factor through the signups of runs before it is seeded anew. */
const GROWTH_MAX = 1.5;
const PURGE_POLL_MS = 500;

const OWNER = { email: 'bench@example.com', password: 'seventeen purple walruses' } as const;

export interface Seed {
  readonly id: number;
  /** As requested; the signups of earlier runs come on top. */
  readonly size: number;
  readonly apiKey: string;
}

/**
 * Waitlists of these sizes, named `bench-<size>`, made by the service's own code and kept from run to run. Each call
 * renews their API keys, because a key is shown only once. It resolves when outgrown lists are purged: otherwise the
 * service would purge them while it is measured.
 */
export async function prepareSeeds(environment: NodeJS.ProcessEnv, sizes: readonly number[]): Promise<Seed[]> {
  // The build has a bundle of Nest of its own, and dependency injection works with no other.
  const { NestFactory } = await built<typeof nest>('../node_modules/@nestjs/core/index.js');
  const { AppModule } = await built<typeof appModule>('app.module.js');
  const { readConfig } = await built<typeof configModule>('platform/config/config.js');
  const { Database } = await built<typeof databaseModule>('platform/database/database.js');
  const { migrate } = await built<typeof migrator>('platform/database/migrator.js');
  const app = await NestFactory.createApplicationContext(AppModule.forRoot(readConfig(environment)), {
    logger: ['error'],
    abortOnError: false,
  });
  try {
    await migrate(app.get(Database).dataSource);
    const accountId = await ownerId(app);
    const seeds: Seed[] = [];
    for (const size of sizes) seeds.push(await prepareSeed(app, accountId, size));
    await awaitPurge(app);
    return seeds;
  } finally {
    await app.close();
  }
}

async function ownerId(app: INestApplicationContext): Promise<number> {
  const { AccountService } = await built<typeof accountModule>('account/account.service.js');
  const { MemberService } = await built<typeof memberModule>('account/member.service.js');
  const { operatorWrite } = await built<typeof accountWriteModule>('platform/idempotency/account-write.js');
  const members = app.get(MemberService);
  const known = await members.getByEmail(OWNER.email).catch(() => null);
  if (!known) return (await app.get(AccountService).create(OWNER.email, OWNER.password)).account.id;
  // An older benchmark may have made it, with another password.
  await members.setPassword(known, OWNER.password, operatorWrite(known.accountId));
  return known.accountId;
}

async function awaitPurge(app: INestApplicationContext): Promise<void> {
  const { QueuePurger } = await built<typeof purgerModule>('queue/maintenance/purger.js');
  const purger = app.get(QueuePurger);
  let hasSaid = false;
  // An interrupted run may have left some.
  while ((await purger.deletedIds()).length > 0) {
    purger.wake();
    if (!hasSaid) process.stderr.write('Deleting outgrown waitlists…\n');
    hasSaid = true;
    await wait(PURGE_POLL_MS);
  }
}

/** An access token of the owner. */
export async function logIn(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/auth/create_tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(OWNER),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function prepareSeed(app: INestApplicationContext, accountId: number, size: number): Promise<Seed> {
  const { WaitlistService } = await built<typeof waitlistModule>('waitlist/waitlist.service.js');
  const { QueueSeeder } = await built<typeof seederModule>('queue/maintenance/seeder.js');
  const { operatorWrite } = await built<typeof accountWriteModule>('platform/idempotency/account-write.js');
  const waitlists = app.get(WaitlistService);
  const name = `bench-${size}`;
  const { waitlists: existing } = await waitlists.list(operatorWrite(accountId), { afterId: null, limit: 100 });
  for (const { id, active, offboarded, name: ownName } of existing) {
    if (ownName !== name) continue;
    const total = active + offboarded;
    if (total >= size && total <= size * GROWTH_MAX)
      return { id, size, apiKey: await waitlists.renewApiKey(id, operatorWrite(accountId)) };
    await waitlists.delete(id, operatorWrite(accountId));
  }
  const { waitlist, apiKey } = await waitlists.create(
    { name, urlLocation: 'https://example.com/join' },
    operatorWrite(accountId),
  );
  const format = `${name} {bar} {percentage}% | {value}/{total} | {eta_formatted} left`;
  const bar = new SingleBar({ format, noTTYOutput: true }, Presets.rect);
  bar.start(size, 0);
  await app.get(QueueSeeder).seed(waitlist.id, size, (done) => bar.update(done));
  bar.stop();
  return { id: waitlist.id, size, apiKey };
}
