import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Problem } from '../platform/problems/problem.js';

/** The number is the id of the process that uses the file. */
const NAME = /^waitlist-transfer-(\d+)-/;

/** A full disk or an exceeded quota, as codes of the system; 13 is SQLITE_FULL. */
const NO_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 13]);

/** `OVERLOADED` where `TRANSFER_DIR` has no space left; otherwise the error itself. */
export function asSpaceProblem(error: unknown): unknown {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  if (error instanceof Problem || !(NO_SPACE.has(code) || NO_SPACE.has(errcode))) return error;
  return new Problem('OVERLOADED', { cause: error });
}

/** A file for the time of one import or export. */
export interface TransferFile {
  readonly path: string;
  /** Reads and writes. */
  readonly handle: FileHandle;
  /** Closes and deletes it. */
  remove(): Promise<void>;
}

/** The files in `TRANSFER_DIR`. They hold personal data, so each is deleted after use, or at the start after a crash. */
@Injectable()
export class TransferFiles implements OnApplicationBootstrap {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** A new, empty file that only the service's own user may read. */
  async create(): Promise<TransferFile> {
    const path = join(this.config.transferDirectory, `waitlist-transfer-${process.pid}-${randomUUID()}`);
    const handle = await open(path, 'wx+', 0o600);
    return {
      path,
      handle,
      remove: async () => {
        await rm(path, { force: true });
        await handle.close();
      },
    };
  }

  /** Deletes the files of processes that are gone. Other processes may share the directory. */
  async onApplicationBootstrap(): Promise<void> {
    const { transferDirectory } = this.config;
    // A container of one command, such as a migration, may lack the system's temporary folder.
    if (!existsSync(transferDirectory)) return;
    for (const name of await readdir(transferDirectory)) {
      const [, owner] = NAME.exec(name) ?? [];
      if (owner !== undefined && isGone(Number(owner))) await removeOwn(join(transferDirectory, name));
    }
  }
}

/** Another user's service may share the system's temporary folder. */
async function removeOwn(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

/** In a container, each start of the service has the same id: a file with ours is of an earlier process. */
function isGone(processId: number): boolean {
  if (processId === process.pid) return true;
  try {
    process.kill(processId, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
