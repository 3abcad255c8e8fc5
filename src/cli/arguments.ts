import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { ID_RULE, parseId, UUID_PATTERN } from '../platform/contract/formats.js';

export function uuidArgument(value: string): string {
  if (!new RegExp(UUID_PATTERN).test(value)) throw new InvalidArgumentError('It must be a UUID.');
  return value.toLowerCase();
}

export function positiveInteger(value: string): number {
  const number = parseId(value);
  if (number === null) throw new InvalidArgumentError(`It ${ID_RULE}.`);
  return number;
}

export function readableFile(path: string): string {
  if (isAccessible(path, constants.R_OK) && statSync(path).isFile()) return path;
  throw new InvalidArgumentError('It must be a file that you may read.');
}

export function writableFile(path: string): string {
  const isThere = existsSync(path);
  if (isAccessible(isThere ? path : dirname(path), constants.W_OK) && !(isThere && statSync(path).isDirectory()))
    return path;
  throw new InvalidArgumentError('It must be a file that you may write.');
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
