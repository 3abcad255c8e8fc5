import { SingleBar } from 'cli-progress';
import type { OnProgress } from '../queue/maintenance/auditor.js';

export const JSON_OPTION = ['--json', 'print one JSON object per line'] as const;

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints the row, with `--json` as an object and otherwise as a line. */
export function printRow(options: { json?: true }, row: object, line: string): void {
  print(options.json ? JSON.stringify(row) : line);
}

/** Shows a progress bar on standard error, at a terminal only, once a part of the work is done and a part is left. */
export async function withProgress<Result>(
  what: string,
  work: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const bar = new SingleBar({
    format: `${what} {bar} {value}/{total}, {eta_formatted} left`,
    stream: process.stderr,
    noTTYOutput: false,
    clearOnComplete: true,
  });
  try {
    return await work((done, total) => {
      if (!bar.isActive && done < total) bar.start(total, done);
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
}
