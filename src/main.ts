import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { prepareFirstStart } from './first-start.js';
import { type Config, readConfig } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { Presence } from './platform/health/presence.js';
import { configureHttp, createAdapter } from './platform/http/configure-http.js';
import { safeError } from './platform/http/problem.filter.js';
import { startTracing } from './platform/telemetry/tracing.js';
import { onStopSignal } from './platform/shutdown.js';
import { asListenError, explainStartFailure } from './platform/start-failure.js';
import { QueueService } from './queue/queue.service.js';

interface Running {
  readonly app: NestFastifyApplication;
  readonly endTracing?: () => Promise<void>;
}

/**
 * Of the live heap, how much garbage V8 lets come on top before it collects all. Left alone it takes what the machine has,
 * and the service grew to 310 MiB under load; so it stays below 200, at no cost that could be measured.
 */
const HEAP_GROWING_PERCENT = 50;

async function start(config: Config): Promise<Running> {
  const adapter = createAdapter(config);
  const endTracing = config.sendsTraces ? await startTracing(adapter.getInstance().log) : undefined;
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(config), adapter, {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  await app.get(Database).prepareSchema();
  await configureHttp(app, config);
  await app.init();
  await app.listen(config.port, config.host).catch((error: unknown) => {
    throw asListenError(error, config);
  });
  app.get(QueueService).keepPurging((error) => {
    adapter
      .getInstance()
      .log.error({ error: safeError(error) }, 'the records of a deleted waitlist were not deleted yet');
  });
  // Only a service that listens makes the account: its password is shown once, and a taken port would lose it.
  process.stdout.write(await prepareFirstStart(app, config));
  return { app, endTracing };
}

/** Answers whoever is being served, empties the line of writers, closes the database's connections, and sends the last spans. */
async function stop({ app, endTracing }: Running, delayMs: number): Promise<void> {
  app.get(Presence).leave();
  await setTimeout(delayMs);
  // Ahead of Nest's own turn, which comes after the hooks that end the writer: whoever is being served still needs it.
  await app.getHttpAdapter().getInstance().close();
  await app.close();
  await endTracing?.();
}

try {
  // The embedded database, and the secret beside it, are for the service's own user.
  process.umask(0o077);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const config = readConfig();
  const delayMs = config.shutdownDelaySeconds * 1000;
  const started = start(config);
  // A signal during the start waits for its end, so that no first account is made whose password nobody saw. A person's
  // Ctrl-C has no balancer to wait for.
  onStopSignal(delayMs, async (signal) => stop(await started, signal === 'SIGTERM' ? delayMs : 0));
  await started;
} catch (error) {
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exit(1);
}
