import { Injectable } from '@nestjs/common';
import { AccountKeyService } from '../account/account-key.service.js';
import { Problem } from '../platform/problems/problem.js';
import { type Need, requireRole, requireTwoFactor } from './access.js';
import type { Caller } from './caller.js';
import { type TokenCaller, TokenService } from './token.service.js';

/** Judges callers again whose request takes so long that they may have lost their access meanwhile. */
@Injectable()
export class LongCallService {
  constructor(
    private readonly tokens: TokenService,
    private readonly accountKeys: AccountKeyService,
  ) {}

  /**
   * Passes callers whose login or key goes on, and whose role still suffices. A token may have expired.
   * @throws Problem `INVALID_TOKEN`, `TWO_FACTOR_REQUIRED`, `INSUFFICIENT_ROLE`, `INVALID_ACCOUNT_KEY`
   */
  async requireStill(caller: Caller, need: Need): Promise<void> {
    if (caller.key) {
      if (!(await this.accountKeys.isLive(caller.key.id))) throw new Problem('INVALID_ACCOUNT_KEY');
      return;
    }
    const live = await this.tokens.findCaller((caller as TokenCaller).claims);
    if (!live) throw new Problem('INVALID_TOKEN');
    requireTwoFactor(live);
    requireRole(live, need);
  }
}
