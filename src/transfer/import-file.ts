import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { broken } from '../platform/contract/fields.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { type Cells, type Column, COLUMNS } from './columns.js';

export const COLUMNS_MAX = 200;
export const COLUMN_LENGTH_MAX = 100;
/** Parsed at once. The parser takes 20 microseconds for a line with a wrong number of cells, which can be two bytes. */
const PIECE_BYTES = 1024;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** latin1 keeps each byte, so invalid UTF-8 can be reported by line. */
const OPTIONS: Options = {
  encoding: 'latin1',
  relax_column_count: true,
  skip_empty_lines: true,
  record_delimiter: ['\r\n', '\n', '\r'],
};

/** The columns of a file. */
export interface Header {
  /** By position; null for an unknown one. */
  readonly columns: readonly (Column | null)[];
  readonly ignored: readonly string[];
}

/** A line of the file as cells, or its fault. */
export interface FileLine {
  /** Counted from 1, the header. For a line with line breaks in its cells, the number of its last line. */
  readonly number: number;
  readonly cells: Cells;
  readonly fault: FieldFault | null;
}

/** Reads the header from the start of a file. @throws Problem `INVALID_CSV` */
export function readHeader(start: Buffer): Header {
  try {
    const [names = []] = parseSync(withoutMark(start), { ...OPTIONS, to: 1 });
    return headerOf(names);
  } catch (error) {
    throw isCsvError(error) ? unreadable(error) : error;
  }
}

/** The lines of a file after its header. @throws Problem `INVALID_CSV` */
export async function* readLines(file: FileHandle, header: Header): AsyncGenerator<FileLine> {
  const start = Buffer.alloc(BYTE_ORDER_MARK.length);
  await file.read(start, 0, start.length, 0);
  const bytes = file.createReadStream({ start: start.equals(BYTE_ORDER_MARK) ? start.length : 0, autoClose: false });
  const parser = parse({ ...OPTIONS, info: true, from: 2 });
  pipeline(bytes, inPieces, parser, () => undefined);
  try {
    for await (const record of parser) {
      const { record: cells, info } = record as { record: string[]; info: { lines: number } };
      yield lineOf(info.lines, cells, header);
    }
  } catch (error) {
    throw isCsvError(error) ? unreadable(error) : error;
  }
}

async function* inPieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of bytes)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
}

function withoutMark(start: Buffer): Buffer {
  return start.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? start.subarray(BYTE_ORDER_MARK.length)
    : start;
}

function headerOf(cells: readonly string[]): Header {
  const names = cells.map((cell) => decoded(cell)?.trim());
  // The position follows from the other columns.
  const imported = COLUMNS.filter((column) => column !== 'position');
  const columns = names.map((name) => imported.find((column) => column === name?.toLowerCase()) ?? null);
  const faults: FieldFault[] = [];
  if (names.includes(undefined)) throw invalid([broken('format', 'must be CSV in UTF-8', 'body')]);
  if (names.length > COLUMNS_MAX) faults.push(broken('max_items', `must have at most ${COLUMNS_MAX} columns`, 'body'));
  for (const column of new Set(columns)) {
    if (column !== null && columns.indexOf(column) !== columns.lastIndexOf(column))
      faults.push(broken('unique', 'must be a column only once', column));
  }
  if (!names.some(Boolean)) faults.push(broken('format', 'must begin with a line of column names', 'body'));
  else if (!columns.includes('email') && !columns.includes('phone'))
    faults.push(broken('required', 'must be a column of the file unless phone is one', 'email'));
  if (faults.length > 0) throw invalid(faults);
  return {
    columns,
    ignored: names
      .filter((name, index): name is string => Boolean(name) && columns[index] === null)
      .map((name) => name.slice(0, COLUMN_LENGTH_MAX).toWellFormed()),
  };
}

function lineOf(number: number, given: readonly string[], { columns }: Header): FileLine {
  if (given.length !== columns.length) {
    const message = `must have ${columns.length} cells, as the header has, not ${given.length}`;
    return { number, cells: {}, fault: broken('format', message, 'line') };
  }
  const cells: Partial<Record<Column, string>> = {};
  for (const [index, cell] of given.entries()) {
    const text = decoded(cell);
    const column = columns[index];
    if (text === undefined) return { number, cells: {}, fault: broken('format', 'must be UTF-8', column ?? 'line') };
    if (column) cells[column] = text;
  }
  return { number, cells, fault: null };
}

/** Undefined for text that is no UTF-8. */
function decoded(cell: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- all of ASCII
  if (/^[\x00-\x7f]*$/.test(cell)) return cell;
  const bytes = Buffer.from(cell, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function isCsvError(error: unknown): error is CsvError & { readonly lines: number } {
  return error instanceof Error && /^(CSV_|INVALID_OPENING_QUOTE)/.test(String((error as { code?: unknown }).code));
}

function unreadable({ lines }: CsvError & { readonly lines: number }): Problem {
  return invalid([broken('format', `must be CSV: the quotes in line ${lines} are wrong`, 'body')]);
}

/** A file that is refused as a whole. */
export function invalid(fields: readonly FieldFault[]): Problem {
  const detail = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new Problem('INVALID_CSV', { detail, fields });
}
