import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { checkFirstOwner, prepareFirstStart } from './first-start.js';
import { SsoService } from '../auth/sso.service.js';
import { BackgroundTasks } from '../platform/background-task.js';
import { type Config, readConfig } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { prepareSchema } from '../platform/database/migrator.js';
import { Lifecycle } from '../platform/health/lifecycle.js';
import { createMetricsServer } from '../platform/health/monitoring.js';
import { configureHttp } from '../platform/http/configure-http.js';
import { createAdapter } from '../platform/http/server.js';
import { SERVER_BOUNDS } from '../platform/limits/server-bounds.js';
import { SealedColumns } from '../platform/secrets/sealed-columns.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { startTracing } from '../platform/telemetry/tracing.js';
import type { Stoppable } from './shutdown.js';
import { asListenError, explainStartFailure } from './start-failure.js';
import { MailDispatcher } from '../mail/mail.dispatcher.js';

/**
 * How much the heap may grow before V8 collects all of it, in percent of the live heap. It keeps the process below
 * 200 MiB under load, at no measurable cost; V8's default let it grow to 310 MiB.
 */
const HEAP_GROWING_PERCENT = 50;
/**
 * Connections that may wait to be accepted: all of them, because they may come at once, and each turn of the event loop
 * accepts one. Beyond Node.js's default of 511 some would be reset. The kernel caps this at net.core.somaxconn.
 */
const BACKLOG = SERVER_BOUNDS.connectionsMax;

/**
 * Starts the service as the environment configures it. Resolves when it listens and its first account has been created
 * and shown. If the start fails, prints the reason and exits.
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
  // Only the service's own user may read the embedded database and the secret next to it.
  process.umask(0o077);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const config = readConfig();
  const adapter = createAdapter(config);
  const { log } = adapter.getInstance();
  const endTracing = config.sendsTraces ? await startTracing(log) : undefined;
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), adapter, {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  const database = app.get(Database);
  await prepareSchema(database.dataSource);
  log.info({ database: await database.describe() }, 'database');
  await checkFirstOwner(app, config);
  await configureHttp(app, config);
  await app.init();
  const { port, host } = config;
  const metricsServer = await startMetricsServer(app, config);
  await app.listen({ port, host, backlog: BACKLOG }).catch((error: unknown) => {
    throw asListenError(error, { variable: 'PORT', port, host });
  });
  const unavailable = await app.get(SealedColumns).reseal();
  if (unavailable > 0)
    log.warn({ rows: unavailable }, 'rows are encrypted under a secret that JWT_SECRET does not list');
  const waitlists = await app.get(MailDispatcher).countUnserved();
  if (waitlists > 0) log.warn({ waitlists }, 'waitlists send mails, but SMTP_URL is not set: no mail is sent');
  app.get(BackgroundTasks).startAll(log);
  // Create the first account only after listening: its password is shown once, and a failed start would lose it.
  process.stdout.write(await prepareFirstStart(app, config));
  if (await app.get(SsoService).isAccountMissing())
    log.warn('OIDC_ACCOUNT is the email of no active owner: only invited people can sign in by single sign-on');
  app.get(Lifecycle).markStarted();
  return {
    delayMs: config.shutdownDelaySeconds * 1000,
    async stop(delayMs) {
      app.get(Lifecycle).isStopping = true;
      await setTimeout(delayMs);
      // Before app.close(), whose hooks stop the queue writer before the server: requests under way still need it.
      await adapter.getInstance().close();
      await app.close();
      await metricsServer?.close();
      await endTracing?.();
    },
  };
}

/** Only with `METRICS_PORT`; without it, the service itself serves `/metrics`. */
async function startMetricsServer(app: NestFastifyApplication, { metricsPort: port, host }: Config) {
  if (port === undefined) return undefined;
  const server = createMetricsServer(app.get(Metrics));
  await server.listen({ port, host }).catch((error: unknown) => {
    throw asListenError(error, { variable: 'METRICS_PORT', port, host });
  });
  return server;
}
