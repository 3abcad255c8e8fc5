import { isDuplicateKey } from '../../platform/database/database-error.js';

/** With several writing nodes of a cluster, another may insert the same email; the next attempt finds its record. */
const DUPLICATE_ATTEMPTS_MAX = 3;

/** Repeats a transaction that inserts records while another process inserts records with the same keys. */
export async function retryDuplicates<Result>(
  onRetry: (reason: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDuplicateKey(error) || attempt === DUPLICATE_ATTEMPTS_MAX) throw error;
      onRetry('duplicate_key');
    }
  }
}
