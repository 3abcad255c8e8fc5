import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { broken } from '../platform/contract/fields.js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import {
  type Column,
  columnsOf,
  type ColumnUse,
  COLUMNS_MAX,
  type Delimiter,
  delimiterOf,
  DELIMITERS,
  LENIENT,
  type Mapping,
  ownColumn,
  usesOf,
} from './column-names.js';
import type { Cells } from './columns.js';

export const COLUMN_LENGTH_MAX = 100;
/** Of the line of column names, counted from the start of the file. */
export const HEADER_BYTES_MAX = 64 * 1024;
/** Names of columns in an error. */
const NAMES_SHOWN = 10;
const NAME_LENGTH_SHOWN = 30;
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

/** The first line of a file. */
export interface Header {
  readonly delimiter: Delimiter;
  /** By position. */
  readonly uses: readonly ColumnUse[];
}

/** A line of the file as cells, or its fault. */
export interface FileLine {
  /** Counted from 1, the header. For a line with line breaks in its cells, the number of its last line. */
  readonly number: number;
  readonly cells: Cells;
  /** Values that go into the metadata, by column name. */
  readonly kept?: Readonly<Record<string, string>>;
  readonly fault: FieldFault | null;
}

/** Reads the header from the start of a file. @throws Problem `INVALID_CSV` */
export function readHeader(start: Buffer, mapping: Mapping): Header {
  requireText(start);
  const text = withoutMark(start);
  const delimiter = delimiterOf(text.subarray(0, HEADER_BYTES_MAX).toString(), mapping);
  try {
    const [names = []] = parseSync(text, { ...OPTIONS, delimiter, to: 1 });
    return headerOf(names, delimiter, mapping);
  } catch (error) {
    throw isCsvError(error) ? unreadable(error) : error;
  }
}

/**
 * Identifies a file and how its columns are read, which can change the order of its lines. With commas and exact names,
 * it is the hash of the file alone, so that runs of v0.2.0 can be completed.
 */
export function identityOf(fileHash: string, { delimiter, uses }: Header): string {
  const isPlain = uses.every(
    ({ header, column, isGuess, isKept }) => !isGuess && !isKept && column === ownColumn(header),
  );
  if (delimiter === ',' && isPlain) return fileHash;
  const reading = uses.map(({ header, column, isGuess, isKept }) => [header, column, isGuess, isKept]);
  return createHash('sha256')
    .update(JSON.stringify([fileHash, delimiter, reading]))
    .digest('hex');
}

/** The columns whose invalid values are left out. */
export function guessedOf({ uses }: Header): ReadonlySet<Column> {
  return new Set(uses.flatMap(({ column, isGuess }) => (isGuess && column && LENIENT.has(column) ? [column] : [])));
}

/** The lines of a file after its header. @throws Problem `INVALID_CSV` */
export async function* readLines(file: FileHandle, header: Header): AsyncGenerator<FileLine> {
  const start = Buffer.alloc(BYTE_ORDER_MARK.length);
  await file.read(start, 0, start.length, 0);
  const bytes = file.createReadStream({ start: start.equals(BYTE_ORDER_MARK) ? start.length : 0, autoClose: false });
  const parser = parse({ ...OPTIONS, delimiter: header.delimiter, info: true, from: 2 });
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

/** @throws Problem `INVALID_CSV` for UTF-16 and binary files, which spreadsheets save too */
function requireText(start: Buffer): void {
  const [first, second] = start;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (hasMark || first === 0 || second === 0) throw notUtf8('UTF-16');
  const end = start.indexOf('\n');
  if (start.subarray(0, end < 0 ? start.length : end).includes(0)) throw notUtf8('a binary file');
}

function headerOf(cells: readonly string[], delimiter: Delimiter, mapping: Mapping): Header {
  const decodedNames = cells.map((cell) => decoded(cell)?.trim());
  const names = decodedNames.filter((name) => name !== undefined);
  if (names.length < decodedNames.length) throw notUtf8('Latin-1 (Windows-1252)');
  if (names.length > COLUMNS_MAX)
    throw invalid([broken('max_items', `must have at most ${COLUMNS_MAX} columns`, 'body')]);
  if (!names.some(Boolean)) throw invalid([broken('format', 'must begin with a line of column names', 'body')]);
  const uses = usesOf(names, mapping);
  const faults = [mappingFault(mapping, names) ?? []].flat();
  const read = columnsOf(uses);
  for (const column of new Set(read)) {
    if (read.indexOf(column) !== read.lastIndexOf(column))
      faults.push(broken('unique', 'must be a column only once', column));
  }
  if (!read.includes('email') && !read.includes('phone')) {
    const rule = 'must be a column of the file unless phone is one';
    faults.push(
      broken(
        'required',
        `${rule}; the first line, read with ${DELIMITERS[delimiter]}, names ${listed(names)}`,
        'email',
      ),
    );
  }
  if (faults.length > 0) throw invalid(faults);
  return { delimiter, uses };
}

function mappingFault(mapping: Mapping, names: readonly string[]): FieldFault | null {
  for (const [name, column] of Object.entries(mapping)) {
    const amount = names.filter((other) => other === name).length;
    if (amount === 0) return broken('known', `must name columns of the file; ${quoted(name)} is none`, 'columns');
    if (amount > 1 && column !== null) {
      const rule = 'must name columns that the file has once';
      return broken('unique', `${rule}; it has ${quoted(name)} ${amount} times`, 'columns');
    }
  }
  return null;
}

/** The first names of columns: `"a", "b" and 3 more`. */
function listed(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  return `${names.slice(0, NAMES_SHOWN).map(quoted).join(', ')}${more}`;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, NAME_LENGTH_SHOWN).toWellFormed());
}

function lineOf(number: number, given: readonly string[], { uses }: Header): FileLine {
  if (given.length !== uses.length) {
    const message = `must have ${uses.length} cells, as the header has, not ${given.length}`;
    return { number, cells: {}, fault: broken('format', message, 'line') };
  }
  const cells: Partial<Record<Column, string>> = {};
  let kept: [string, string][] | undefined;
  for (const [index, cell] of given.entries()) {
    const text = decoded(cell);
    const use = uses[index];
    if (text === undefined) {
      const message = 'must be UTF-8, not Latin-1: save the file as "CSV UTF-8"';
      return { number, cells: {}, fault: broken('format', message, use?.column ?? 'line') };
    }
    if (use?.isKept) (kept ??= []).push([use.header, text]);
    else if (use?.column) cells[use.column] = text;
  }
  return { number, cells, ...(kept && { kept: Object.fromEntries(kept) }), fault: null };
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

function notUtf8(what: string): Problem {
  return invalid([broken('format', `must be CSV in UTF-8, not ${what}: save it as "CSV UTF-8"`, 'body')]);
}

/** A file that is refused as a whole. */
export function invalid(fields: readonly FieldFault[]): Problem {
  const detail = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new Problem('INVALID_CSV', { detail, fields });
}
