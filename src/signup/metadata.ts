import { Problem } from '../platform/problem.js';
import type { JsonObject } from '../queue/waiter.js';

const SIZE_MAX_BYTES = 16 * 1024;
/** The object itself is the first level. */
const LEVELS_MAX = 8;

/** @throws Problem `invalid` for metadata that is too large or too deep */
export function checkMetadata(metadata: JsonObject | null): JsonObject | null {
  if (metadata === null) return null;
  const fault = levels(metadata) > LEVELS_MAX ? `must have at most ${LEVELS_MAX} levels` : sizeFault(metadata);
  if (fault) throw Problem.invalid([{ field: 'metadata', message: fault }]);
  return metadata;
}

function sizeFault(metadata: JsonObject): string | null {
  const isTooLarge = Buffer.byteLength(JSON.stringify(metadata)) > SIZE_MAX_BYTES;
  return isTooLarge ? `must have at most ${SIZE_MAX_BYTES} bytes as compact JSON` : null;
}

/** Counts one level past the limit and no further, so that depth can't exhaust the stack. */
function levels(value: unknown, limit = LEVELS_MAX + 1): number {
  if (typeof value !== 'object' || value === null || limit === 0) return 0;
  return 1 + Object.values(value).reduce<number>((deepest, item) => Math.max(deepest, levels(item, limit - 1)), 0);
}
