import { broken } from '../platform/contract/fields.js';
import type { Problem } from '../platform/problems/problem.js';
import type { Rule } from '../platform/problems/rule.js';
import { COLUMNS_MAX, type Delimiter } from './column-names.js';
import { HEADER_BYTES_MAX, invalid } from './import-file.js';

/** All cells of a line. An export writes the answers of the largest signup, 256 KiB, twice, with doubled quotes. */
const LINE_BYTES_MAX = 2 * 1024 * 1024;
const CELLS_MAX = 4 * COLUMNS_MAX;
/** A file of 1 GiB could have a billion, and the parser visits empty ones too. */
const LINES_MAX = 20_000_000;

const [LINE_FEED, RETURN, QUOTE] = [0x0a, 0x0d, 0x22];

/**
 * Bounds the lines of a CSV file while its bytes arrive. The parser makes an object of each cell, so a line of a
 * hundred million commas would exhaust the memory. A quote begins or ends quoted text; a doubled quote does both. So
 * this agrees with the parser up to the first wrong quote, which it refuses.
 */
export class LineCounter {
  /** Lines that have ended, in cells too. `\r\n` is one end. */
  lines = 0;
  hasHeader = false;
  /** The line in which the current cells begin. */
  private line = 1;
  private hasText = false;
  private isQuoted = false;
  private isAfterReturn = false;
  private cells = 1;
  private bytes = 0;

  /** Until the header shows the delimiter, it is null, and cells are not counted. */
  constructor(private readonly delimiter: Delimiter | null) {}

  /** Counts the next bytes of the file. @throws Problem `INVALID_CSV` */
  add(chunk: Buffer): void {
    const delimiter = this.delimiter?.charCodeAt(0);
    // An index: to iterate over a buffer takes several times as long.
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      this.bytes += 1;
      if (byte === LINE_FEED || byte === RETURN) this.endLine(byte);
      else this.hasText = true;
      if (byte === QUOTE) this.isQuoted = !this.isQuoted;
      if (byte === delimiter && !this.isQuoted) this.cells += 1;
      this.isAfterReturn = byte === RETURN;
      if (this.cells > CELLS_MAX)
        throw refused('max_items', `must have lines of at most ${CELLS_MAX} cells; line ${this.line} has more`);
      if (this.bytes > (this.hasHeader ? LINE_BYTES_MAX : HEADER_BYTES_MAX)) throw this.tooLong();
    }
  }

  private endLine(byte: number): void {
    if (byte !== LINE_FEED || !this.isAfterReturn) this.lines += 1;
    if (this.lines > LINES_MAX) throw refused('max_items', `must have at most ${LINES_MAX} lines`);
    if (this.isQuoted) return;
    this.hasHeader ||= this.hasText;
    this.line = this.lines + 1;
    this.cells = 1;
    if (this.hasHeader) this.bytes = 0;
  }

  private tooLong(): Problem {
    if (!this.hasHeader)
      return refused('max_bytes', `must begin with column names of at most ${HEADER_BYTES_MAX} bytes`);
    const rule = `must have lines of at most ${LINE_BYTES_MAX} bytes`;
    return refused('format', `${rule}; line ${this.line} is longer, or opens a quote that is never closed`);
  }
}

function refused(rule: Rule, message: string): Problem {
  return invalid([broken(rule, message, 'body')]);
}
