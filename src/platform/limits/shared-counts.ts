import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { type Config, CONFIG } from '../config/config.js';

/** If Redis does not answer within this time, it counts as unavailable, so that callers do not wait for a limit. */
const ANSWER_MAX_MS = 250;
const CONNECT_MAX_MS = 2_000;
const RECONNECT_STEP_MS = 100;
const RECONNECT_MAX_MS = 2_000;
const KEY_PREFIX = 'waitlist';
/** Keys of one counter in the memory of a process, some 500 bytes each. Strangers choose how many there are. */
export const KEYS_MAX = 20_000;

/**
 * The counts behind all limits: in the Redis that replicas share, or in this process without one. While Redis is
 * unavailable, each process counts for itself, so that no request waits and every limit still holds.
 */
@Injectable()
export class SharedCounts implements OnModuleDestroy {
  private readonly redis: Redis | undefined;

  constructor(@Inject(CONFIG) { redisUrl }: Config) {
    if (redisUrl === undefined) return;
    this.redis = new Redis(redisUrl, {
      lazyConnect: true,
      connectTimeout: CONNECT_MAX_MS,
      // Ends the connection, not one command, so that callers do not wait at all until it is up again.
      socketTimeout: ANSWER_MAX_MS,
      disconnectTimeout: ANSWER_MAX_MS,
      enableOfflineQueue: false,
      // Commands on a connection that ended fail at once, and do not wait for the next connection.
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(times * RECONNECT_STEP_MS, RECONNECT_MAX_MS),
    });
  }

  /** Resolves when Redis is connected or known to be unavailable; reconnecting continues. Only the server calls it. */
  async connect(log: { info(text: string): void; warn(fields: object, text: string): void }): Promise<void> {
    if (!this.redis) return;
    let isAway = false;
    this.redis.on('ready', () => {
      isAway = false;
      log.info('Redis is connected: all replicas share their limits');
    });
    // The message alone: the error holds the command, and so the password. Once per outage, not once per attempt.
    this.redis.on('error', ({ message }: Error) => {
      if (!isAway) log.warn({ reason: message }, 'Redis is away: each replica counts for itself');
      isAway = true;
    });
    // The error event reports the reason.
    await this.redis.connect().catch(() => undefined);
  }

  /**
   * A key's count ends `windowSeconds` after its first penalty. The caller compares it with a maximum. Two counters of
   * one name would add up.
   */
  counter(name: string, windowSeconds: number): RateLimiterAbstract {
    // Without points: `penalty` counts on, whereas `consume` would reject.
    const options = { points: 0, duration: windowSeconds, keyPrefix: `${KEY_PREFIX}:${name}` };
    const ownCounts = new BoundedMemory(options);
    if (!this.redis) return ownCounts;
    return new RateLimiterRedis({
      ...options,
      storeClient: this.redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: ownCounts,
    });
  }

  onModuleDestroy(): void {
    this.redis?.disconnect();
  }
}

/** The library's memory limiter has no bound. This one forgets the key that was not counted for longest. */
class BoundedMemory extends RateLimiterMemory {
  private readonly keys = new LRUCache<string | number, true>({
    max: KEYS_MAX,
    dispose: (_, key, reason) => reason === 'evict' && void super.delete(key),
  });

  override penalty(...args: Parameters<RateLimiterMemory['penalty']>) {
    this.keys.set(args[0], true);
    return super.penalty(...args);
  }

  override reward(...args: Parameters<RateLimiterMemory['reward']>) {
    this.keys.set(args[0], true);
    return super.reward(...args);
  }
}
