import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { prepareFirstStart } from './first-start.js';
import { readConfig } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Presence } from '../platform/health/presence.js';
import { configureHttp, createAdapter, SERVER_BOUNDS } from '../platform/http/configure-http.js';
import { safeError } from '../platform/problems/problem.filter.js';
import { startTracing } from '../platform/telemetry/tracing.js';
import type { Stoppable } from './shutdown.js';
import { asListenError, explainStartFailure } from './start-failure.js';
import { QueuePurger } from '../queue/maintenance/purger.js';

/**
 * Of the live heap, how much garbage V8 lets come on top before it collects all. Left alone it takes what the machine has,
 * and the service grew to 310 MiB under load; so it stays below 200, at no cost that could be measured.
 */
const HEAP_GROWING_PERCENT = 50;
/**
 * Connections that may wait to be accepted: as many as a process takes, for all may come at once, and a turn of the event loop
 * accepts one. Beyond the 511 that Node.js asks for by itself, some are reset. The kernel gives no more than net.core.somaxconn.
 */
const BACKLOG = SERVER_BOUNDS.connectionsMax;

/**
 * Starts the service that the environment describes. Resolves when it listens and its first account is made and shown; where it
 * can't, says why and ends the process.
 */
export async function start(): Promise<Stoppable> {
  try {
    return await startService();
  } catch (error) {
    process.stderr.write(`${explainStartFailure(error)}\n`);
    process.exit(1);
  }
}

async function startService(): Promise<Stoppable> {
  // The embedded database, and the secret beside it, are for the service's own user.
  process.umask(0o077);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const config = readConfig();
  const adapter = createAdapter(config);
  const { log } = adapter.getInstance();
  const endTracing = config.sendsTraces ? await startTracing(log) : undefined;
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(config), adapter, {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  const database = app.get(Database);
  await database.prepareSchema();
  log.info({ database: await database.describe() }, 'database');
  await configureHttp(app, config);
  await app.init();
  const { port, host } = config;
  await app.listen({ port, host, backlog: BACKLOG }).catch((error: unknown) => {
    throw asListenError(error, config);
  });
  app.get(QueuePurger).watch((error) => {
    log.error({ error: safeError(error) }, 'the records of a deleted waitlist were not deleted yet');
  });
  // Only a service that listens makes the account: its password is shown once, and a taken port would lose it.
  process.stdout.write(await prepareFirstStart(app, config));
  app.get(Presence).start();
  return {
    delayMs: config.shutdownDelaySeconds * 1000,
    async stop(delayMs) {
      app.get(Presence).leave();
      await setTimeout(delayMs);
      // Ahead of Nest's own turn, which comes after the hooks that end the writer: whoever is being served still needs it.
      await adapter.getInstance().close();
      await app.close();
      await endTracing?.();
    },
  };
}
