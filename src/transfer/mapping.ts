import { parse } from 'secure-json-parse';
import { broken } from '../platform/contract/fields.js';
import { Problem } from '../platform/problems/problem.js';
import type { Rule } from '../platform/problems/rule.js';
import { COLUMNS_MAX, IMPORTED, type Mapping } from './column-names.js';

/** A mapping must fit in the URL of a request. */
export const MAPPING_LENGTH_MAX = 8 * 1024;

/** Parses and checks the mapping of a request. @throws Problem `INVALID_REQUEST` */
export function readMapping(json: string | undefined): Mapping {
  const mapping = json === undefined ? {} : parsed(json);
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping))
    throw invalid('type', 'must be a JSON object');
  const columns = Object.values(mapping as Mapping);
  if (columns.length > COLUMNS_MAX) throw invalid('max_items', `must have at most ${COLUMNS_MAX} names`);
  if (!columns.every((column) => column === null || IMPORTED.some((known) => known === column)))
    throw invalid('one_of', `must have only null and these values: ${IMPORTED.join(', ')}`);
  const named = columns.filter((column) => column !== null && column !== 'metadata');
  const twice = named.find((column, index) => named.indexOf(column) < index);
  if (twice !== undefined) throw invalid('unique', `must not read two columns as ${twice}`);
  return mapping as Mapping;
}

function parsed(json: string): unknown {
  try {
    return parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid('format', 'must be JSON');
    throw error;
  }
}

function invalid(rule: Rule, message: string): Problem {
  return Problem.invalid([broken(rule, message, 'columns')]);
}
