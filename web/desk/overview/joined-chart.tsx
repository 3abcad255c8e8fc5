import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { count } from '../parts/format';

interface Day {
  readonly label: string;
  readonly signups: number;
  readonly referred: number;
}

export default function JoinedChart({ days, height }: { days: readonly Day[]; height: number }) {
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
      yAxisProps={{ allowDecimals: false, width: 44 }}
      barProps={{ isAnimationActive: false }}
      barChartProps={{ accessibilityLayer: false }}
    />
  );
}
