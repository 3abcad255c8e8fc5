import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { newWorkLine } from '../platform/batcher.js';
import { normalPassword } from '../platform/contract/password-rule.js';

/** OWASP's minimum for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/**
 * A hash keeps a core busy: one is left for everything else, while nobody logs in at an address known for it. Of libuv's
 * four threads one more is for those who do, and one for files and names.
 */
const AT_ONCE_MAX = Math.min(Math.max(availableParallelism() - 1, 1), 2);
/** Some three seconds of work, so that nobody waits beyond a client's patience. */
const WAITING_MAX = 64;

/** Hashes and verifies passwords, a few at a time, so that a rush of logins leaves the rest of the service alone. */
@Injectable()
export class PasswordHasher {
  private readonly line = newLine(AT_ONCE_MAX);
  /** So that no crowd of strangers stands before owners who log in where they do. By address: no email is told by its line. */
  private readonly knownLine = newLine(1);
  /** Verified against where there is no account, so that a wrong email takes as long as a wrong password. */
  private readonly nobodysHash = this.hash(randomUUID());

  /** @throws Problem `unavailable` when too many wait */
  async hash(password: string): Promise<string> {
    return (await this.line.submit(() => hash(normalPassword(password), COST))) as string;
  }

  /** False for a missing hash too, in the same time. @throws Problem `unavailable` when too many wait */
  async verify(passwordHash: string | undefined, password: string, isKnownAddress: boolean): Promise<boolean> {
    const against = passwordHash ?? (await this.nobodysHash);
    const line = isKnownAddress ? this.knownLine : this.line;
    const matches = await line.submit(() => verify(against, normalPassword(password)));
    return matches === true && passwordHash !== undefined;
  }
}

function newLine(runsMax: number) {
  return newWorkLine<string | boolean>({ name: 'hash a password', waitingMax: WAITING_MAX, runsMax });
}
