import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { isPublicKey } from './waitlist-keys.js';
import type { WaitlistName } from './waitlist-name.js';
import { WaitlistStore } from './waitlist.store.js';

/** Finds the waitlist that a public operation names. */
@Injectable()
export class WaitlistNameService {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistStore,
  ) {}

  /** The id of the named waitlist; a given id is not checked. @throws Problem `WAITLIST_NOT_FOUND` */
  async idOf({ waitlist_id, api_key }: WaitlistName): Promise<number> {
    const name = waitlist_id ?? api_key ?? '';
    if (typeof name === 'number') return name;
    const key = isPublicKey(name) ? { publicKey: name } : { apiKeyHash: hashKey(name) };
    const id = await this.database.one(this.waitlists.findId(key));
    if (id === null) throw new Problem('WAITLIST_NOT_FOUND');
    return id;
  }
}
