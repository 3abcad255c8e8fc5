import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ARCHIVE_MAX_BYTES = 64 * 1024 * 1024;

/** A build to upgrade from: its directory, and how a drill names it in its output. */
export interface EarlierBuild {
  readonly root: string;
  readonly name: string;
}

/**
 * Checks out a commit; its first start installs and builds it. Drills with the same temporary directory share the
 * checkout. Without a commit, or if it is the current one, the drill runs this build against itself.
 */
export async function earlierBuild(commit: string | undefined): Promise<EarlierBuild> {
  const hashOf = (name: string) => git('rev-parse', `${name}^{commit}`).toString().trim();
  if (commit === undefined || hashOf(commit) === hashOf('HEAD'))
    return { root: ROOT, name: 'the same build (before equals after)' };
  const root = join(tmpdir(), `waitlist-build-${hashOf(commit)}`);
  if (!existsSync(root)) {
    await mkdir(root);
    execFileSync('tar', ['-x', '-C', root], { input: git('archive', commit) });
  }
  return { root, name: commit };
}

function git(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: ROOT, maxBuffer: ARCHIVE_MAX_BYTES });
}
