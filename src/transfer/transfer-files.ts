import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Problem } from '../platform/problems/problem.js';

/** A full disk or an exceeded quota, as codes of the system; 13 is SQLITE_FULL. */
const NO_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 13]);

/** `OVERLOADED` where `TRANSFER_DIR` has no space left; otherwise the error itself. */
export function asSpaceProblem(error: unknown): unknown {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  if (error instanceof Problem || !(NO_SPACE.has(code) || NO_SPACE.has(errcode))) return error;
  return new Problem('OVERLOADED', { cause: error });
}

/**
 * The files of imports and exports, in `TRANSFER_DIR`. They hold personal data. So a file loses its name once open: the
 * system deletes it when it is closed or its process is killed.
 */
@Injectable()
export class TransferFiles {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** A new, empty file that only the service's own user may read. */
  async create(): Promise<FileHandle> {
    return this.openNew((path) => open(path, 'r+'));
  }

  /** Makes an empty file, and deletes its name once `openAt` has opened it. */
  async openNew<Opened>(openAt: (path: string) => Opened | Promise<Opened>): Promise<Opened> {
    const path = join(this.config.transferDirectory, `waitlist-transfer-${randomUUID()}`);
    await writeFile(path, '', { flag: 'wx', mode: 0o600 });
    try {
      return await openAt(path);
    } finally {
      await rm(path);
    }
  }
}
