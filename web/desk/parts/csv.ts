import { stringify } from 'csv-stringify/browser/esm/sync';

/**
 * A spreadsheet would run a cell that begins like this. As in the service's export, an apostrophe before it prevents
 * that.
 */
const FORMULA = /^'*[=+\-@\t\r]/;

/** A CSV file for spreadsheets; the first row names the columns. */
export function csvOf(rows: readonly (readonly (string | number | boolean | null)[])[]): Blob {
  const cells = rows.map((row) =>
    row.map((value) => {
      const text = String(value ?? '');
      return FORMULA.test(text) ? `'${text}` : text;
    }),
  );
  return new Blob([stringify(cells, { quoted_match: '\r' })], { type: 'text/csv;charset=utf-8' });
}
