import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { AuthService } from '../auth/auth.service.js';
import { readConfig } from '../platform/config/config.js';
import { readRequest } from '../platform/contract/request.pipe.js';
import { Database } from '../platform/database/database.js';
import { QueueAuditor } from '../queue/maintenance/auditor.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { QueueSeeder } from '../queue/maintenance/seeder.js';
import { CreateWaitlistDto } from '../waitlist/waitlist.dto.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';

/** What the commands of the terminal work with. */
export interface Rooms {
  readonly auth: AuthService;
  readonly waitlists: WaitlistService;
  readonly auditor: QueueAuditor;
  readonly purger: QueuePurger;
  readonly seeder: QueueSeeder;
  readonly database: Database;
  readonly readSettings: typeof readSettings;
}

/**
 * Runs one command on the service's own rooms, without its HTTP server.
 * @throws ConfigError, SchemaError where a shared database is behind and the command `needsSchema`, and what the command throws
 */
export async function withRooms(command: (rooms: Rooms) => Promise<void>, { needsSchema = true } = {}): Promise<void> {
  // No command signs a token, so none needs the real secret.
  const config = readConfig({ ...process.env, JWT_SECRET: randomBytes(32).toString('hex') });
  const app = await NestFactory.createApplicationContext(AppModule.of(config), { logger: false, abortOnError: false });
  try {
    const database = app.get(Database);
    if (needsSchema) await database.prepareSchema();
    await command({
      auth: app.get(AuthService),
      waitlists: app.get(WaitlistService),
      auditor: app.get(QueueAuditor),
      purger: app.get(QueuePurger),
      seeder: app.get(QueueSeeder),
      database,
      readSettings,
    });
  } finally {
    await app.close();
  }
}

/** Settings of a new waitlist, held to the rules of the API. @throws Problem `INVALID_REQUEST` */
function readSettings(body: Partial<CreateWaitlistDto>) {
  return CreateWaitlistDto.toSettings(readRequest(CreateWaitlistDto, body));
}
