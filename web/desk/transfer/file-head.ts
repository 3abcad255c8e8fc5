import { type CsvError, parse } from 'csv-parse/browser/esm/sync';
import { type Delimiter, delimiterOf, ownColumn } from '../../../src/transfer/column-names';

/** The beginning of a file: a header and five lines of usual length fit many times. */
const HEAD_BYTES = 256 * 1024;
const ROWS_READ = 5;
const SAVE_AS = 'Save the list as “CSV UTF-8”, then choose that.';

export interface FileHead {
  readonly delimiter: Delimiter;
  /** The names of the columns. */
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Reads the first lines, and no more of the file. @throws Error with a sentence for the reader */
export async function readHead(file: File): Promise<FileHead> {
  const text = textOf(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()));
  const delimiter = delimiterOf(text);
  const [names = [], ...rows] = recordsOf(text, delimiter);
  const headers = names.map((name) => name.trim());
  if (!headers.some(Boolean)) throw new Error('The file is empty. Its first line has to name the columns.');
  const known = headers.map(ownColumn);
  const twice = headers.find((_, index) => known[index] !== null && known.indexOf(known[index] ?? null) < index);
  if (twice !== undefined) throw new Error(`The column ${twice} appears twice. Each column may appear only once.`);
  return { delimiter, headers, rows };
}

function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (hasMark || first === 0 || second === 0) throw new Error(`This file is in UTF-16. ${SAVE_AS}`);
  if (bytes.includes(0)) throw new Error(`This is not a CSV file. ${SAVE_AS}`);
  try {
    // A character at the end may be cut in two.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch (error) {
    throw new Error(`This file is in Latin-1 (Windows-1252). ${SAVE_AS}`, { cause: error });
  }
}

function recordsOf(text: string, delimiter: Delimiter): string[][] {
  try {
    return parse(text, {
      bom: true,
      delimiter,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      to: 1 + ROWS_READ,
    });
  } catch (error) {
    const { lines } = error as CsvError & { lines?: number };
    throw new Error(`This is not CSV: the quotes in line ${lines ?? 1} are wrong.`, { cause: error });
  }
}
