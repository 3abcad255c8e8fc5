import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';

/** A server that stays silent for longer is away: a limit is not worth more of a caller's time. */
const ANSWER_MAX_MS = 250;
const CONNECT_MAX_MS = 2_000;
const RECONNECT_STEP_MS = 100;
const RECONNECT_MAX_MS = 2_000;
const KEY_PREFIX = 'waitlist';
/**
 * Keys of a limit that a process keeps, at some 500 bytes each: strangers choose them. The one not counted for longest is
 * forgotten first.
 */
export const KEYS_MAX = 20_000;

interface Limit {
  /** How many are allowed within the window. */
  readonly points: number;
  readonly windowSeconds: number;
}

/**
 * What the limits count: in the Redis that replicas share, or in this process where there is none. While Redis is away
 * each process counts for itself, so that nobody waits and no limit is lifted.
 */
@Injectable()
export class SharedCounts implements OnModuleDestroy {
  private readonly redis: Redis | undefined;

  constructor(@Inject(CONFIG) { redisUrl }: Config) {
    if (redisUrl === undefined) return;
    this.redis = new Redis(redisUrl, {
      lazyConnect: true,
      connectTimeout: CONNECT_MAX_MS,
      // Ends the connection, not one command: whoever comes until it is up again does not wait at all.
      socketTimeout: ANSWER_MAX_MS,
      disconnectTimeout: ANSWER_MAX_MS,
      enableOfflineQueue: false,
      // What was sent on a connection that ended is answered so at once, not when another one stands.
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(times * RECONNECT_STEP_MS, RECONNECT_MAX_MS),
    });
  }

  /** Resolves when the counts are shared, or Redis is away; it is tried again and again. Only who serves requests calls it. */
  async connect(log: { info(text: string): void; warn(fields: object, text: string): void }): Promise<void> {
    if (!this.redis) return;
    let isAway = false;
    this.redis.on('ready', () => {
      isAway = false;
      log.info('Redis is there: limits are shared by all replicas');
    });
    // Only the message: the error holds the command, and so the password. Once an outage, not once a try.
    this.redis.on('error', ({ message }: Error) => {
      if (!isAway) log.warn({ reason: message }, 'Redis is away: each replica holds limits by what it sees itself');
      isAway = true;
    });
    // Why it failed has come as an event.
    await this.redis.connect().catch(() => undefined);
  }

  /** A limit under a name of its own; two of one name would add up. */
  limiter(name: string, { points, windowSeconds }: Limit): RateLimiterAbstract {
    const options = {
      points,
      duration: windowSeconds,
      keyPrefix: `${KEY_PREFIX}:${name}`,
    };
    const own = new OwnCounts(options);
    if (!this.redis) return own;
    return new RateLimiterRedis({
      ...options,
      storeClient: this.redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: own,
    });
  }

  onModuleDestroy(): void {
    this.redis?.disconnect();
  }
}

/** Counts in this process, of no more keys than that. Only what makes a key is held to it. */
class OwnCounts extends RateLimiterMemory {
  private readonly keys = new LRUCache<string | number, true>({
    max: KEYS_MAX,
    dispose: (_, key, reason) => reason === 'evict' && void super.delete(key),
  });

  override consume(...args: Parameters<RateLimiterMemory['consume']>) {
    this.keys.set(args[0], true);
    return super.consume(...args);
  }

  override penalty(...args: Parameters<RateLimiterMemory['penalty']>) {
    this.keys.set(args[0], true);
    return super.penalty(...args);
  }

  override reward(...args: Parameters<RateLimiterMemory['reward']>) {
    this.keys.set(args[0], true);
    return super.reward(...args);
  }

  override delete(...args: Parameters<RateLimiterMemory['delete']>) {
    this.keys.delete(args[0]);
    return super.delete(...args);
  }
}
