import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import passport from 'passport';
import { isAccountKey } from '../platform/secrets/random-key.js';
import type { AccountKeyService } from '../account/account-key.service.js';
import type { Caller } from './caller.js';

export const ACCOUNT_KEY = 'account_key';

/** A request with the {@link AccountKeyService} of the application that received it; the guards set it. */
export type KeyRequest = FastifyRequest & { accountKeys: AccountKeyService };

/** Finds the account of the key in the header `api-key`. */
@Injectable()
export class AccountKeyStrategy extends passport.Strategy {
  constructor() {
    super();
    passport.use(ACCOUNT_KEY, this);
  }

  /** Takes an `object`, because Passport's types name only Express's requests. */
  override authenticate(request: object): void {
    const { accountKeys, headers } = request as KeyRequest;
    const secret = accountKeyOf(headers);
    if (secret === null) return this.fail();
    findCaller(accountKeys, secret).then(
      (caller) => (caller ? this.success(caller) : this.fail()),
      (error: unknown) => this.error(error),
    );
  }
}

async function findCaller(accountKeys: AccountKeyService, secret: string): Promise<Caller | null> {
  const live = await accountKeys.findLive(secret);
  if (!live) return null;
  const { account, key } = live;
  const { waitlistIds } = key;
  return { accountId: account.id, waitlistIds, accountUuid: account.uuid, member: null, key };
}

/** The account key of a request; null if there is none. With a token, the header holds the API key of a waitlist. */
export function accountKeyOf({ authorization, 'api-key': apiKey }: FastifyRequest['headers']): string | null {
  return authorization === undefined && isAccountKey(apiKey) ? apiKey : null;
}
