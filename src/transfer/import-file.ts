import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { broken } from '../platform/contract/fields.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { type Cells, type Column, COLUMNS } from './columns.js';

/** Of the line of column names, and of what is read to find its end. */
export const HEADER_BYTES_MAX = 64 * 1024;
export const COLUMNS_MAX = 200;
export const COLUMN_LENGTH_MAX = 100;
/** All cells of one line. An export writes the answers of the largest signup, 256 KiB, twice, with each quote doubled. */
const LINE_BYTES_MAX = 2 * 1024 * 1024;
/** Read at once: parsing it takes less than a millisecond. */
const READ_BYTES = 16 * 1024;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Bytes as characters: so that text that is no UTF-8 is noticed, line by line. */
const OPTIONS: Options = {
  encoding: 'latin1',
  relax_column_count: true,
  skip_empty_lines: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  max_record_size: LINE_BYTES_MAX,
};

/** The columns of a file. */
export interface Header {
  /** By position; null for an unknown one. */
  readonly columns: readonly (Column | null)[];
  readonly ignored: readonly string[];
}

/** A line of the file as cells, or its fault. */
export interface FileLine {
  /** Counted from 1, the header. Of a line with line breaks in its cells, the last. */
  readonly number: number;
  readonly cells: Cells;
  readonly fault: FieldFault | null;
}

/**
 * Reads the header as soon as the bytes that have come contain it. Null if more must come.
 * @throws Problem `INVALID_CSV`
 */
export function readHeader(start: Buffer, isAll: boolean): Header | null {
  const text = withoutMark(start);
  const isLong = start.length > HEADER_BYTES_MAX;
  if (!isAll && !text.includes('\n') && !text.includes('\r')) return isLong ? throwLong() : null;
  try {
    const [names = []] = parseSync(text, { ...OPTIONS, to: 1 });
    return headerOf(names);
  } catch (error) {
    if (!isCsvError(error)) throw error;
    // The line break is in a column name.
    if (error.code === 'CSV_QUOTE_NOT_CLOSED' && !isAll) return isLong ? throwLong() : null;
    throw unreadable(error);
  }
}

/** The lines of a file after its header. @throws Problem `INVALID_CSV` */
export async function* readLines(file: FileHandle): AsyncGenerator<FileLine> {
  const start = Buffer.alloc(BYTE_ORDER_MARK.length);
  await file.read(start, 0, start.length, 0);
  const bytes = file.createReadStream({
    start: start.equals(BYTE_ORDER_MARK) ? start.length : 0,
    autoClose: false,
    highWaterMark: READ_BYTES,
  });
  const parser = parse({ ...OPTIONS, info: true });
  pipeline(bytes, parser, () => undefined);
  let header: Header | undefined;
  try {
    for await (const record of parser) {
      const { record: cells, info } = record as { record: string[]; info: { lines: number } };
      if (header) yield lineOf(info.lines, cells, header);
      else header = headerOf(cells);
    }
  } catch (error) {
    throw isCsvError(error) ? unreadable(error) : error;
  }
}

function withoutMark(start: Buffer): Buffer {
  return start.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? start.subarray(BYTE_ORDER_MARK.length)
    : start;
}

function headerOf(cells: readonly string[]): Header {
  const names = cells.map((cell) => decoded(cell)?.trim());
  const columns = names.map((name) => {
    const known = COLUMNS.find((column) => column === name?.toLowerCase());
    // It follows from the other columns.
    return known === 'position' ? null : (known ?? null);
  });
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

function unreadable({ code, lines }: CsvError & { readonly lines: number }): Problem {
  const message =
    code === 'CSV_MAX_RECORD_SIZE'
      ? `must have lines of at most ${LINE_BYTES_MAX} bytes; line ${lines} is longer, or opens a quote that is never closed`
      : `must be CSV: the quotes in line ${lines} are wrong`;
  return invalid([broken('format', message, 'body')]);
}

function throwLong(): never {
  throw invalid([broken('max_bytes', `must begin with column names of at most ${HEADER_BYTES_MAX} bytes`, 'body')]);
}

function invalid(fields: readonly FieldFault[]): Problem {
  const detail = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new Problem('INVALID_CSV', { detail, fields });
}
