import { Group, Progress, Stack, Text } from '@mantine/core';
import { duration } from '../parts/format';

/** Before this, a rate is a guess. */
const RATE_AFTER_MS = 2_000;

/** How far long work is, with its rate and the time left. `since` is its begin by `performance.now()`. */
export function ProgressBar({
  label,
  done,
  total,
  since,
  write,
}: {
  label: string;
  done: number;
  total: number | null;
  since: number;
  /** A number in the unit of the work. */
  write: (amount: number) => string;
}) {
  const elapsedMs = performance.now() - since;
  const rate = elapsedMs > RATE_AFTER_MS && done > 0 ? (done / elapsedMs) * 1000 : null;
  // The total can be an estimate.
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  const left = rate !== null && total !== null && total > done ? (total - done) / rate : null;
  const amount = total === null ? write(done) : `${write(done)} of ${write(total)}`;
  return (
    <Stack gap={4}>
      <Text size="sm" role="status">
        {label}
      </Text>
      <Progress.Root size="lg">
        <Progress.Section
          value={share === null ? 100 : share * 100}
          animated={share === null}
          aria-label={label}
          aria-valuetext={amount}
        />
      </Progress.Root>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {amount}
        </Text>
        <Text size="sm" c="dimmed">
          {[rate !== null && `${write(Math.round(rate))} a second`, left !== null && `about ${duration(left)} left`]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </Group>
    </Stack>
  );
}
