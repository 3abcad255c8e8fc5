import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { normalPassword } from '../platform/contract/password-rule.js';
import { boundedQueue } from '../platform/limits/bounded-queue.js';

/** OWASP's minimum for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** A hash keeps a core busy: one core is left for everything else, and two of libuv's four threads for files. */
const RUNS_MAX = Math.min(Math.max(availableParallelism() - 1, 1), 2);
/** Some three seconds of work, so that nobody waits beyond a client's patience. */
const WAITING_MAX = 64;

/** Hashes and verifies passwords, a few at a time, so that a rush of logins does not slow down the service. */
@Injectable()
export class PasswordHasher {
  private readonly enqueue = boundedQueue('hash a password', { runsMax: RUNS_MAX, waitingMax: WAITING_MAX });
  /** Verified where an email has no password, so that a wrong email takes as long as a wrong password. */
  private readonly decoyHash = this.hash(randomUUID());

  /** @throws Problem `QUEUE_FULL` */
  async hash(password: string): Promise<string> {
    return this.enqueue(() => hash(normalPassword(password), COST));
  }

  /** False for a missing hash too, in the same time. @throws Problem `QUEUE_FULL` */
  async verify(passwordHash: string | null | undefined, password: string): Promise<boolean> {
    const against = passwordHash ?? (await this.decoyHash);
    const matches = await this.enqueue(() => verify(against, normalPassword(password)));
    return matches && Boolean(passwordHash);
  }
}
