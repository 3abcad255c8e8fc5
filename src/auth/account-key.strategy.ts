import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import passport from 'passport';
import type { AccountKeyService } from './account-key.service.js';

export const ACCOUNT_KEY = 'account_key';

/** A request with the {@link AccountKeyService} of the application that received it; the guards set it. */
export type KeyRequest = FastifyRequest & { accountKeys: AccountKeyService };

const FORM = /^[\da-f]{64}$/;

/** Finds the account of the key in the header `api-key`. */
@Injectable()
export class AccountKeyStrategy extends passport.Strategy {
  constructor() {
    super();
    passport.use(ACCOUNT_KEY, this);
  }

  /** The types of Passport know Express only. */
  override authenticate(request: object): void {
    const { accountKeys, headers } = request as KeyRequest;
    const secret = accountKeyOf(headers);
    if (secret === null) return this.fail();
    accountKeys.findCaller(secret).then(
      (caller) => (caller ? this.success(caller) : this.fail()),
      (error: unknown) => this.error(error),
    );
  }
}

/** The text in place of an account key; null if there is none. Beside a token, the header is for the key of a waitlist. */
export function accountKeyOf({ authorization, 'api-key': apiKey }: FastifyRequest['headers']): string | null {
  return authorization === undefined && typeof apiKey === 'string' && FORM.test(apiKey) ? apiKey : null;
}
