import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, onRequestAsyncHookHandler } from 'fastify';
import { Gauge } from 'prom-client';
import { type Config, CONFIG } from '../config/config.js';
import { EventStream } from '../http/event-stream.js';
import { onceEnded } from '../http/once-ended.js';
import { Problem } from '../problems/problem.js';
import { Metrics } from '../telemetry/metrics.js';
import { isWithin, PerAddressQuota } from './address.js';
import type { ServerBounds } from './server-bounds.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The response is a stream of events, which lasts as long as its client watches. */
    isLive?: boolean;
  }
}

/** Streams of one address, such as a household or an office. */
const PER_ADDRESS_MAX = 20;
/** Clients of a process that stops connect again after a random time, so that they do not all come at once. */
const RETRY_MS = { min: 1_000, max: 10_000 };

/** The streams of events of this process. */
@Injectable()
export class LiveConnections {
  private readonly max: number;
  private readonly isExempt: (address: string) => boolean;
  private readonly held = new PerAddressQuota(PER_ADDRESS_MAX);
  private readonly streams = new Set<EventStream>();
  private isClosing = false;
  /** Streams, and requests that may become streams. */
  taken = 0;

  constructor(@Inject(CONFIG) { liveConnectionsMax, rateLimits }: Config, { registry }: Metrics) {
    this.max = liveConnectionsMax;
    this.isExempt = isWithin(rateLimits.exempt);
    const { streams } = this;
    new Gauge({
      name: 'waitlist_live_connections',
      help: 'Streams of live places that are open.',
      registers: [registry],
      collect() {
        this.set(streams.size);
      },
    });
    new Gauge({
      name: 'waitlist_live_connections_max',
      help: 'Streams of live places that the process may have open.',
      registers: [registry],
    }).set(liveConnectionsMax);
  }

  /**
   * Takes a place for a request, and returns the function that gives it back.
   * @throws Problem `NOT_FOUND` if streams are turned off, `SHUTTING_DOWN`, `LIVE_CONNECTIONS_FULL`,
   * `TOO_MANY_LIVE_CONNECTIONS`
   */
  take(address: string): () => void {
    if (this.max === 0) throw new Problem('NOT_FOUND');
    if (this.isClosing) throw new Problem('SHUTTING_DOWN');
    if (this.taken >= this.max) throw new Problem('LIVE_CONNECTIONS_FULL');
    const release = this.isExempt(address) ? () => undefined : this.held.take(address, 1);
    if (!release) throw new Problem('TOO_MANY_LIVE_CONNECTIONS');
    this.taken += 1;
    return () => {
      this.taken -= 1;
      release();
    };
  }

  /** Makes the response a stream. */
  open(reply: FastifyReply): EventStream {
    const stream = EventStream.open(reply);
    this.streams.add(stream);
    stream.onceClosed(() => this.streams.delete(stream));
    if (this.isClosing) close(stream);
    return stream;
  }

  /** Ends all streams, and takes no more. */
  closeAll(): void {
    this.isClosing = true;
    for (const stream of this.streams) close(stream);
  }
}

function close(stream: EventStream): void {
  stream.close(randomInt(RETRY_MS.min, RETRY_MS.max + 1));
}

/**
 * Bounds the streams of events. They do not count in the bound of other connections. New ones are refused at half the
 * event loop delay at which all requests are. A shutdown ends them.
 */
export function limitLiveConnections(
  fastify: FastifyInstance,
  connections: LiveConnections,
  { connectionsMax, loopDelayMs }: ServerBounds,
): void {
  const { server } = fastify;
  const admit: onRequestAsyncHookHandler = async (request, reply) => {
    if (loopDelayMs > 0 && fastify.memoryUsage().eventLoopDelay > loopDelayMs / 2) throw new Problem('OVERLOADED');
    const release = connections.take(request.ip);
    server.maxConnections = connectionsMax + connections.taken;
    onceEnded(request.raw, reply.raw, () => {
      release();
      server.maxConnections = connectionsMax + connections.taken;
    });
  };
  fastify.decorateRequest('openedAfterMs');
  fastify.addHook('onRoute', (route) => {
    if (route.config?.isLive) route.onRequest = [route.onRequest ?? [], admit].flat();
  });
  fastify.addHook('preClose', (done) => {
    connections.closeAll();
    done();
  });
}
