import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../config/config.js';
import { Secrets } from '../secrets/secrets.js';
import { isWithin, siteKey } from './address.js';

/** The networks of callers, as the database keeps them. */
@Injectable()
export class Networks {
  private readonly isExempt: (address: string) => boolean;

  constructor(
    @Inject(CONFIG) { rateLimits }: Config,
    private readonly secrets: Secrets,
  ) {
    this.isExempt = isWithin(rateLimits.exempt);
  }

  /** A keyed hash of an address's network. Null for one of `RATE_LIMIT_EXEMPT`, a server that acts for many people. */
  hashOf(address: string): string | null {
    return this.isExempt(address) ? null : this.secrets.hash('network', siteKey(address));
  }
}
