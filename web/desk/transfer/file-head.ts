import { type CsvError, parse } from 'csv-parse/browser/esm/sync';
import { meaningOf } from './columns';

/** The beginning of a file: a header and five lines of usual length fit many times. */
const HEAD_BYTES = 256 * 1024;
const ROWS_SHOWN = 5;

export interface FileHead {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Reads the first lines, and no more of the file. @throws Error with a sentence for the reader */
export async function readHead(file: File): Promise<FileHead> {
  const bytes = await file.slice(0, HEAD_BYTES).arrayBuffer();
  // A character at the end may be cut in two.
  const text = new TextDecoder().decode(bytes, { stream: true });
  if (text.includes('\0')) throw new Error('This is not a CSV file. Save the list as CSV in UTF-8, then choose that.');
  const [columns = [], ...rows] = recordsOf(text);
  if (!columns.some(Boolean)) throw new Error('The file is empty. Its first line has to name the columns.');
  const known = columns.map(meaningOf);
  if (!known.includes('Email') && !known.includes('Phone'))
    throw new Error('No column of the file is named email or phone. Name the columns in its first line.');
  const twice = columns.find((_, index) => known[index] !== null && known.indexOf(known[index] ?? null) < index);
  if (twice !== undefined)
    throw new Error(`The column ${twice.trim()} appears twice. Each column may appear only once.`);
  return { columns, rows };
}

function recordsOf(text: string): string[][] {
  try {
    return parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      to: 1 + ROWS_SHOWN,
    });
  } catch (error) {
    const { lines } = error as CsvError & { lines?: number };
    throw new Error(`This is not CSV: the quotes in line ${lines ?? 1} are wrong.`, { cause: error });
  }
}
