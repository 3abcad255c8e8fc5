import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { AuthService } from '../auth/auth.service.js';
import { readConfig } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { QueueService } from '../queue/queue.service.js';
import { WaitlistService } from '../waitlist/waitlist.service.js';

/** The services that CLI commands use. */
export interface CliServices {
  readonly auth: AuthService;
  readonly waitlists: WaitlistService;
  readonly queue: QueueService;
  readonly database: Database;
}

/**
 * Runs a command with the application's services, without the HTTP server.
 * @throws ConfigError
 * @throws SchemaError if `needsSchema` and the schema of a shared database is outdated
 */
export async function withServices(
  command: (services: CliServices) => Promise<void>,
  { needsSchema = true } = {},
): Promise<void> {
  // No command signs tokens, so none needs the real secret.
  const config = readConfig({ ...process.env, JWT_SECRET: randomBytes(32).toString('hex') });
  const app = await NestFactory.createApplicationContext(AppModule.forRoot(config), {
    logger: false,
    abortOnError: false,
  });
  try {
    const database = app.get(Database);
    if (needsSchema) await database.prepareSchema();
    const [auth, waitlists, queue] = [app.get(AuthService), app.get(WaitlistService), app.get(QueueService)];
    await command({ auth, waitlists, queue, database });
  } finally {
    await app.close();
  }
}
