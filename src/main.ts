import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { prepareFirstStart } from './first-start.js';
import { readConfig } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { configureHttp, createAdapter } from './platform/http/configure-http.js';
import { asListenError, explainStartFailure } from './platform/start-failure.js';

async function start(): Promise<void> {
  const config = readConfig();
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(config), createAdapter(config), {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  app.enableShutdownHooks([], { useProcessExit: true });
  await app.get(Database).prepareSchema();
  await configureHttp(app, config);
  await app.init();
  await app.listen(config.port, config.host).catch((error: unknown) => {
    throw asListenError(error, config);
  });
  // Only a service that listens makes the account: its password is shown once, and a taken port would lose it.
  process.stdout.write(await prepareFirstStart(app, config));
}

start().catch((error: unknown) => {
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exit(1);
});
