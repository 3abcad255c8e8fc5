import { describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { Problem } from '../platform/problems/problem.js';
import { LineCounter } from './line-counter.js';

const HEADER = 'email,first_name\n';
const CELLS_MAX = 800;
const MEBIBYTE = 1024 * 1024;

/** The fault of a file that comes in these chunks, as `field rule: message`; null if it has none. */
function faultOf(chunks: readonly (string | Buffer)[], counter = new LineCounter(',')): string | null {
  try {
    for (const chunk of chunks) counter.add(Buffer.from(chunk as string));
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [fault] = error.fields ?? [];
    return `${fault?.field} ${fault?.rule}: ${fault?.message}`;
  }
}

const tooMany = (line: number) => `body max_items: must have lines of at most 800 cells; line ${line} has more`;

describe('the lines of a file', () => {
  it('are refused beyond 800 cells, and not below', () => {
    expect(faultOf([HEADER, 'x\n', ','.repeat(CELLS_MAX - 1), '\n'])).toBeNull();
    expect(faultOf([HEADER, 'x\n', ','.repeat(CELLS_MAX), '\n'])).toBe(tooMany(3));
    expect(faultOf([','.repeat(CELLS_MAX)])).toBe(tooMany(1));
  });

  it('have as many cells as the parser sees, wherever quotes, line breaks and chunks are', () => {
    const commas = fc.integer({ min: 0, max: CELLS_MAX }).map((count) => ','.repeat(count));
    const inQuotes = fc.array(fc.constantFrom(',,,,', '""', '\r\n', '\n', '\r', 'é'), { maxLength: 200 });
    const cell = fc.oneof(
      fc.constant('x'),
      commas,
      inQuotes.map((parts) => `"${parts.join('')}"`),
      commas.map((many) => `"${many}"`),
    );
    const end = fc.constantFrom('\n', '\r\n', '\r', '\n\n');
    const line = fc.tuple(fc.array(cell, { minLength: 1, maxLength: 6 }), end);
    const file = fc
      .array(line, { maxLength: 3 })
      .map((lines) => lines.map(([cells, lineEnd]) => cells.join(',') + lineEnd).join(''));
    fc.assert(
      fc.property(file, fc.array(fc.nat({ max: 3_000 }), { maxLength: 8 }), (text, cuts) => {
        const bytes = Buffer.from(HEADER + text);
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted((a, b) => a - b);
        const chunks = at.slice(1).map((to, index) => bytes.subarray(at[index], to));

        const fault = faultOf(chunks);

        const records = parse(bytes, { relax_column_count: true, record_delimiter: ['\r\n', '\n', '\r'] });
        expect(fault !== null).toBe(records.some((cells) => cells.length > CELLS_MAX));
      }),
    );
  });

  it('have the cells of another delimiter if the file has one', () => {
    expect(faultOf([HEADER, ','.repeat(CELLS_MAX)], new LineCounter(';'))).toBeNull();
    expect(faultOf([HEADER, ';'.repeat(CELLS_MAX)], new LineCounter(';'))).toBe(tooMany(2));
  });

  it('are refused beyond 2 MiB each, a quote that never ends among them', () => {
    const long = (line: number) =>
      `body format: must have lines of at most 2097152 bytes; line ${line} is longer, or opens a quote that is never closed`;
    const lines = 'ada@example.com,"Ada\nAda"\r\n'.repeat(MEBIBYTE / 8);

    expect(faultOf([HEADER, lines, 'x'.repeat(2 * MEBIBYTE), '\n'])).toBeNull();
    expect(faultOf([HEADER, '\r\n', 'x'.repeat(2 * MEBIBYTE + 1)])).toBe(long(3));
    expect(faultOf([HEADER, '"a\nb"\n"', lines.replaceAll('"', '')])).toBe(long(4));
  });

  it('are refused beyond 20 million, empty ones too', () => {
    const millions = Buffer.alloc(10_000_000, '\n');

    expect(faultOf([HEADER, millions, millions.subarray(17)])).toBeNull();
    expect(faultOf([HEADER, millions, millions])).toBe('body max_items: must have at most 20000000 lines');
  });

  it('begin with a header of at most 64 KiB, empty lines before it included', () => {
    const long = 'body max_bytes: must begin with column names of at most 65536 bytes';
    const counter = new LineCounter(',');

    expect(faultOf(['\n\n"first\nname",ema', 'il'], counter)).toBeNull();
    expect(counter.hasHeader).toBe(false);
    expect(faultOf(['\n'], counter)).toBeNull();
    expect(counter.hasHeader).toBe(true);
    expect(faultOf(['\n'.repeat(65_530), 'email\n'])).toBeNull();
    expect(faultOf(['\n'.repeat(65_530), 'email,phone\n'])).toBe(long);
    expect(faultOf([`"${'\n'.repeat(65_536)}`])).toBe(long);
  });
});
