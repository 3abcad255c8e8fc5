import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { prepareFirstStart } from './first-start.js';
import { readConfig } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { explainStartFailure } from './platform/start-failure.js';
import { configureHttp, createAdapter } from './platform/http/configure-http.js';

async function start(): Promise<void> {
  const config = readConfig();
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(config), createAdapter(config), {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  app.enableShutdownHooks();
  await app.get(Database).prepareSchema();
  await configureHttp(app, config);
  const welcome = await prepareFirstStart(app, config);
  await app.listen(config.port, config.host);
  process.stdout.write(welcome);
}

start().catch((error: unknown) => {
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exit(1);
});
