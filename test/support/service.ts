import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../../src/app.module.js';
import { BackgroundTasks } from '../../src/platform/background-task.js';
import { readConfig } from '../../src/platform/config/config.js';
import { Lifecycle } from '../../src/platform/health/lifecycle.js';
import { Metrics } from '../../src/platform/telemetry/metrics.js';
import { Database } from '../../src/platform/database/database.js';
import { migrate } from '../../src/platform/database/migrator.js';
import { configureHttp } from '../../src/platform/http/configure-http.js';
import { createAdapter } from '../../src/platform/http/server.js';
import { SERVER_BOUNDS, type ServerBounds } from '../../src/platform/limits/server-bounds.js';
import { Api } from './api.js';
import { openDatabase } from './database.js';
import { LeakDetector } from './leak-detector.js';
import { World } from './world.js';

/** The real service on a real database, called by injection, without a port. */
export interface Service {
  readonly app: NestFastifyApplication;
  readonly api: Api;
  readonly world: World;
  readonly databaseUrl: string;
  /** Starts the background tasks, which fail the test if one throws. */
  startTasks(): void;
  /** The log lines that contain a text, each kind once. */
  logged(text: string): string[];
  /** Rejects if the log or the metrics leaked personal data or secrets of the calls. */
  stop(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** A test and the service share an event loop, so the bounds on delays would count the test's own work. */
const UNHURRIED: ServerBounds = { ...SERVER_BOUNDS, loopDelayMs: 0, answerMs: 60_000 };

/**
 * Starts the service on the database of `TEST_DATABASE_URL`, or on an embedded one of its own. Limits are off unless
 * `environment` says otherwise. On a server the suites of one worker share a database, so a test makes what it needs;
 * `isolated` gives one that nobody else sees.
 */
export async function startService({
  environment = {},
  isolated = false,
  bounds = UNHURRIED,
}: { environment?: Environment; isolated?: boolean; bounds?: ServerBounds } = {}): Promise<Service> {
  const database = await openDatabase(isolated);
  const databaseUrl = environment.DATABASE_URL ?? database.url;
  const config = readConfig({
    JWT_SECRET: 'a-secret-that-signs-tokens-in-tests-only',
    RATE_LIMIT_PUBLIC: '0',
    RATE_LIMIT_LOGIN: '0',
    // Includes everything that production logs.
    LOG_LEVEL: 'trace',
    ...environment,
    DATABASE_URL: databaseUrl,
  });
  const leaks = new LeakDetector();
  const adapter = createAdapter(config, { bounds, log: leaks });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), adapter, {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  await migrate(app.get(Database).dataSource);
  await configureHttp(app, config, bounds);
  await app.init();
  app.get(Lifecycle).markStarted();
  const api = new Api(app, leaks);
  return {
    app,
    api,
    world: new World(app, api),
    databaseUrl,
    logged: (text) => leaks.find(text),
    startTasks: () => {
      const { log } = adapter.getInstance();
      app.get(BackgroundTasks).startAll({
        info: (fields, text) => log.info(fields, text),
        warn: (fields, text) => log.warn(fields, text),
        error: (fields, text) => {
          throw new Error(text, { cause: fields });
        },
      });
    },
    stop: async () => {
      const metrics = await app.get(Metrics).registry.metrics();
      await app.close();
      await database.drop();
      leaks.check(metrics);
      leaks.requireOneAnswerEach();
    },
  };
}

/** Two services on one isolated database; only one on the embedded database, which is for one process. */
export async function startServices(
  environment: Environment = {},
): Promise<{ readonly services: [Service, ...Service[]]; stop(): Promise<void> }> {
  const database = await openDatabase(true);
  const start = async () => startService({ environment: { ...environment, DATABASE_URL: database.url } });
  const services: [Service, ...Service[]] = [await start()];
  if (process.env.TEST_DATABASE_URL) services.push(await start());
  return {
    services,
    stop: async () => {
      for (const service of services) await service.stop();
      await database.drop();
    },
  };
}
