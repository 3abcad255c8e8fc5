import { Injectable } from '@nestjs/common';
import { hashKey, newToken } from '../../platform/secrets/random-key.js';
import { SealedColumns } from '../../platform/secrets/sealed-columns.js';
import { Secrets } from '../../platform/secrets/secrets.js';
import type { Offer } from './offer.js';

/** A new code, as the database stores it. The hash finds the offer; mails and events need the sealed code. */
export type OfferCode = Pick<Offer, 'codeHash' | 'sealedCode'>;

/** The secrets of offers' links. */
@Injectable()
export class OfferCodes {
  constructor(
    private readonly secrets: Secrets,
    columns: SealedColumns,
  ) {
    columns.add({ table: 'offer', id: 'id', column: 'sealed_code' });
  }

  make(): OfferCode {
    const code = newToken();
    return { codeHash: hashKey(code), sealedCode: this.secrets.seal(code) };
  }

  /** The code of an open offer; null if the offer has ended, or the secret that sealed it is gone. */
  open({ sealedCode }: Pick<Offer, 'sealedCode'>): string | null {
    return sealedCode === null ? null : this.secrets.open(sealedCode);
  }
}
