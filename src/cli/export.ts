import { createWriteStream, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { positiveInteger, writableFile } from './arguments.js';
import { print, withProgress } from './output.js';
import { withServices } from './services.js';

export function addExport(waitlist: Command): void {
  waitlist
    .command('export')
    .description(
      'write every record of a waitlist, active, offered and offboarded, to a file that can be imported again',
    )
    .argument('<waitlist>', 'the id of the waitlist', positiveInteger)
    .argument('[file]', 'the file; a new one is readable by you only; standard output if omitted', writableFile)
    .addOption(new Option('--format <format>', 'a table or lines of JSON').choices(['csv', 'ndjson']).default('csv'))
    .action((id: number, file: string | undefined, { format }: { format: 'csv' | 'ndjson' }) =>
      withServices(async ({ exports }) => {
        const ended = new AbortController();
        let records = 0;
        try {
          await withProgress('Exporting', async (onProgress) => {
            const text = await exports.open(null, id, format, ended.signal, (done, total) => {
              records = done;
              if (file !== undefined || !process.stdout.isTTY) onProgress(done, total);
            });
            await (file === undefined ? pipeToStdout(text) : pipeToFile(text, file));
          });
        } finally {
          ended.abort();
        }
        if (file !== undefined) print(`Exported ${records} records of waitlist ${id} to ${file}.`);
      }),
    );
}

/** A file that is not written to its end is deleted. */
async function pipeToFile(source: Readable, path: string): Promise<void> {
  try {
    await pipeline(source, createWriteStream(path));
  } catch (error) {
    if (statSync(path).isFile()) await rm(path);
    throw error;
  }
}

async function pipeToStdout(source: Readable): Promise<void> {
  try {
    await pipeline(source, process.stdout, { end: false });
  } catch (error) {
    // The reader, such as `head`, has enough.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
