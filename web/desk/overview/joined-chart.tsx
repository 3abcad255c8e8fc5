import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { count } from '../parts/format';

interface Day {
  readonly label: string;
  readonly signups: number;
  readonly referred: number;
}

export default function JoinedChart({ days, height }: { days: readonly Day[]; height: number }) {
  const ticks = ticksUpTo(Math.max(...days.map(({ signups }) => signups)));
  return (
    <BarChart
      h={height}
      type="stacked"
      dataKey="label"
      data={days.map(({ label, signups, referred }) => ({ label, referred, unreferred: signups - referred }))}
      series={[
        { name: 'unreferred', label: 'Not referred', color: 'gray.5' },
        { name: 'referred', label: 'Referred', color: 'indigo.7' },
      ]}
      valueFormatter={count}
      withLegend
      tickLine="none"
      gridAxis="x"
      xAxisProps={{ interval: 'equidistantPreserveStart', minTickGap: 16 }}
      yAxisProps={{ allowDecimals: false, width: 44, domain: [0, ticks.at(-1) ?? 1], ticks }}
      maxBarWidth={48}
      barProps={{ isAnimationActive: false }}
      barChartProps={{ accessibilityLayer: false }}
    />
  );
}

const TICKS_MAX = 5;

/** Round whole numbers at equal distances from 0 to `max` or a little more. */
function ticksUpTo(max: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max / TICKS_MAX)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => max <= size * TICKS_MAX) ?? power;
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, index) => index * step);
}
