import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from '../config/config.js';
import { serveContract, serveDocs } from '../contract/docs-page.js';
import { createDocument, type DocumentName, DOCUMENTS, publishable } from '../contract/document.js';
import { Lifecycle } from '../health/lifecycle.js';
import { serveMonitoring } from '../health/monitoring.js';
import { readForwardedAddresses } from '../limits/address.js';
import { askForBodies, endConnectionsOnClose, limitConnections, limitLargeBodies } from '../limits/connections.js';
import { answerInTime, shedLoad } from '../limits/overload.js';
import { limitLiveConnections, LiveConnections } from '../limits/live-connections.js';
import { limitRates } from '../limits/rate-limits.js';
import { SharedCounts } from '../limits/shared-counts.js';
import { requireProgress } from '../limits/transfers.js';
import { ProblemFilter } from '../problems/problem.filter.js';
import { Metrics } from '../telemetry/metrics.js';
import { recordRequests, traceRequests } from '../telemetry/requests.js';
import { readJsonBodies, readQueryFromBody, requireReadableQuery } from './body-and-query.js';
import { allowOrigins } from './cors.js';
import { streamCsvBodies } from './csv-bodies.js';
import { readFormBodies } from './form-bodies.js';
import { DATA_HEADERS } from './headers.js';
import { collectRoutes } from './routes.js';
import { SERVER_BOUNDS } from '../limits/server-bounds.js';

/**
 * Everything that HTTP needs and no module owns: errors, validation, limits, headers, the document. Call before `init`.
 * Hooks run in the order in which they are added, so the order of these calls matters.
 */
export async function configureHttp(
  app: NestFastifyApplication,
  config: Config,
  bounds = SERVER_BOUNDS,
): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const [metrics, lifecycle, counts] = [app.get(Metrics), app.get(Lifecycle), app.get(SharedCounts)];

  limitConnections(fastify.server, bounds, () => metrics.connectionRefusals.inc());
  endConnectionsOnClose(fastify, lifecycle, bounds.unsentMs);

  if (config.trustedProxies.length > 0) readForwardedAddresses(fastify);
  requireProgress(fastify, bounds);
  answerInTime(fastify, bounds.answerMs);
  if (config.sendsTraces) traceRequests(fastify);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(DATA_HEADERS).header('x-request-id', request.id);
    done();
  });
  recordRequests(fastify, metrics);
  const routes = collectRoutes(fastify);
  allowOrigins(fastify, config.corsOrigins, routes);
  // After CORS, so that a page can read the refusal.
  requireReadableQuery(fastify);
  askForBodies(fastify);
  await counts.connect(fastify.log);
  limitRates(fastify, config, counts);
  limitLiveConnections(fastify, app.get(LiveConnections), bounds);
  limitLargeBodies(fastify, bounds);
  readJsonBodies(fastify);
  streamCsvBodies(fastify, bounds.requestMs);
  readFormBodies(fastify);
  readQueryFromBody(fastify);

  app.useGlobalFilters(new ProblemFilter(routes));
  for (const name of Object.keys(DOCUMENTS) as DocumentName[])
    serveContract(fastify, DOCUMENTS[name].url, () => publishable(createDocument(app, config.basePath, name)));
  if (config.docsEnabled) serveDocs(fastify, config.basePath);
  await shedLoad(fastify, lifecycle, bounds.loopDelayMs);
  serveMonitoring(fastify, lifecycle, metrics, config);
}
