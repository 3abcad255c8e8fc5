import { mkdir, writeFile } from 'node:fs/promises';
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

/** One target and its result. */
export interface Row {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  /** Lowest and highest of the rounds, where there are rounds. */
  readonly spread: string;
  readonly verdict: 'pass' | 'falls short' | 'not measured';
}

/** The bound of a ratio; below `size` people the ratio is reported without a verdict. */
export type Target = ({ readonly atLeast: number } | { readonly atMost: number }) & { readonly size?: number };

/** Median time of one request against the size of the waitlist, and the lowest and highest of the rounds' medians. */
export interface CostPoint {
  readonly series: string;
  readonly size: number;
  readonly p50Ms: number;
  readonly lowestMs: number;
  readonly highestMs: number;
}

export interface Report {
  readonly at: string;
  readonly conditions: Readonly<Record<string, string | number>>;
  readonly rows: readonly Row[];
  readonly costs: readonly CostPoint[];
}

const RESULTS = new URL('results/', import.meta.url);
const CHART = new URL('../docs/bench.svg', import.meta.url);

/** A result, with a verdict if enough people were on the list. */
export function ratioRow(what: string, target: Target, size: number, ratios: readonly number[], absolute: string): Row {
  const ratio = median(ratios);
  const [bound, passes] =
    'atLeast' in target
      ? [`≥ ${target.atLeast}`, ratio >= target.atLeast]
      : [`≤ ${target.atMost}`, ratio <= target.atMost];
  const isMeasured = size >= (target.size ?? 0);
  return {
    what,
    target: isMeasured ? bound : `${bound} with ${format(target.size ?? 0)} people`,
    measured: `${format(ratio)} (${absolute})`,
    spread: spread(ratios),
    verdict: isMeasured ? (passes ? 'pass' : 'falls short') : 'not measured',
  };
}

/** The lowest and the highest value. */
export function spread(values: readonly number[]): string {
  return `${format(Math.min(...values))} – ${format(Math.max(...values))}`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? NaN) + upper) / 2 : upper;
}

export function format(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value >= 1000 ? 4 : 3 });
}

export function toMarkdown({ at, conditions, rows, costs }: Report): string {
  const sizes = [...new Set(costs.map(({ size }) => size))];
  const series = [...new Set(costs.map((cost) => cost.series))];
  const costOf = (name: string, size: number) => {
    const found = costs.find((cost) => cost.series === name && cost.size === size);
    return found ? `${format(found.p50Ms)} ms (${spread([found.lowestMs, found.highestMs])})` : '';
  };
  return `# Benchmark of ${at}

${Object.entries(conditions)
  .map(([name, value]) => `- ${name}: ${value}`)
  .join('\n')}

${table(
  [
    'what',
    'target',
    'median ratio (service; rival: median, lowest – highest round)',
    'lowest – highest ratio',
    'verdict',
  ],
  rows.map((row) => [
    row.what,
    row.target,
    row.measured,
    row.spread,
    row.verdict === 'pass' ? row.verdict : `**${row.verdict}**`,
  ]),
)}
${costs.length === 0 ? '' : costTable()}`;

  function costTable(): string {
    return `
Median time of one request by the number of people on the waitlist (lowest – highest round):

${table(
  ['', ...sizes.map((size) => size.toLocaleString('en'))],
  series.map((name) => [name, ...sizes.map((size) => costOf(name, size))]),
)}
`;
  }
}

/** `bench/results/<name>.json` and `.md`. */
export async function writeReport(name: string, report: Report): Promise<void> {
  await mkdir(RESULTS, { recursive: true });
  await writeFile(new URL(`${name}.json`, RESULTS), `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(new URL(`${name}.md`, RESULTS), toMarkdown(report));
}

interface Svg {
  readonly outerHTML: string;
  setAttribute(name: string, value: string): void;
}

/** Cost against size, both logarithmic, for the README. */
export async function drawChart(costs: readonly CostPoint[]): Promise<void> {
  // The project does not load the types of a browser.
  const { document } = parseHTML('<html></html>') as unknown as { document: object };
  const sizes = [...new Set(costs.map(({ size }) => size))];
  const names = [...new Set(costs.map(({ series }) => series))];
  const largest = Math.max(...sizes);
  const svg = (Plot.plot as unknown as (options: Plot.PlotOptions) => Svg)({
    document: document as never,
    width: 760,
    height: 420,
    marginLeft: 60,
    marginRight: 230,
    style: { background: 'white', color: '#222', fontFamily: 'system-ui, sans-serif', fontSize: '13px' },
    x: { type: 'log', label: 'people on the waitlist →', ticks: sizes, tickFormat: (size: number) => abbreviate(size) },
    y: { type: 'log', label: '↑ milliseconds a request (median)', grid: true, tickFormat: (ms: number) => String(ms) },
    color: { domain: names, scheme: 'observable10' },
    marks: [
      Plot.line(costs, { x: 'size', y: 'p50Ms', stroke: 'series', strokeWidth: 2 }),
      Plot.dot(costs, { x: 'size', y: 'p50Ms', fill: 'series' }),
      Plot.text(
        costs.filter(({ size }) => size === largest),
        { x: 'size', y: 'p50Ms', text: 'series', fill: 'series', textAnchor: 'start', dx: 8 },
      ),
    ],
  });
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  await mkdir(new URL('.', CHART), { recursive: true });
  await writeFile(CHART, `${svg.outerHTML}\n`);
}

function abbreviate(size: number): string {
  return size.toLocaleString('en', { notation: 'compact' });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
