import { hash, verify } from '@node-rs/argon2';

/** OWASP's minimum for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Verified against when there is no account, so that a wrong email takes as long as a wrong password. */
let nobodysHash: Promise<string> | undefined;

export async function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/** False for a missing hash too, in the same time. */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  nobodysHash ??= hashPassword('nobody');
  const matches = await verify(passwordHash ?? (await nobodysHash), password);
  return matches && passwordHash !== undefined;
}
