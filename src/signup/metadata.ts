import { Problem } from '../platform/problems/problem.js';
import type { JsonObject } from '../queue/waiter.js';

const SIZE_MAX_BYTES = 16 * 1024;
/** The object itself is the first level. */
const LEVELS_MAX = 8;

/** In JSON, and not behind a backslash that is itself escaped. */
const NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** @throws Problem `invalid` for metadata that is too large, too deep, or holds NUL */
export function checkMetadata(metadata: JsonObject | null): void {
  if (metadata === null) return;
  const fault = levels(metadata) > LEVELS_MAX ? `must have at most ${LEVELS_MAX} levels` : textFault(metadata);
  if (fault) throw Problem.invalid([{ field: 'metadata', message: fault }]);
}

function textFault(metadata: JsonObject): string | null {
  const text = JSON.stringify(metadata);
  if (NUL.test(text)) return 'must not hold NUL';
  return Buffer.byteLength(text) > SIZE_MAX_BYTES ? `must have at most ${SIZE_MAX_BYTES} bytes as compact JSON` : null;
}

/** Counts one level past the limit and no further, so that depth can't exhaust the stack. */
function levels(value: unknown, limit = LEVELS_MAX + 1): number {
  if (typeof value !== 'object' || value === null || limit === 0) return 0;
  return 1 + Object.values(value).reduce<number>((deepest, item) => Math.max(deepest, levels(item, limit - 1)), 0);
}
