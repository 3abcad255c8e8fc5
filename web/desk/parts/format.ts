const WHOLE = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** With thousands separators of the reader's locale. */
export function count(number: number): string {
  return WHOLE.format(number);
}

/** A `priority` as people count: the first is number 1. */
export function position(priority: number): string {
  return WHOLE.format(priority + 1);
}

/** A share of 0 to 1. */
export function share(ratio: number): string {
  return PERCENT.format(ratio);
}

/** The moment of a time in the form of the API, `YYYY-MM-DD_HH-MM-SS` in UTC. */
export function momentOf(text: string): Date {
  const [date = '', time = ''] = text.split('_');
  return new Date(`${date}T${time.replaceAll('-', ':')}Z`);
}
