import { Text } from '@mantine/core';
import { count } from '../parts/format';
import { BULK_MAX } from './people.queries';

/** The progress of an action on more people than one request takes. */
export function BulkProgress({ done, total }: { done: number; total: number }) {
  if (total <= BULK_MAX) return null;
  return (
    <Text size="sm" c="dimmed" role="status">
      {done === 0
        ? `This is done for ${count(BULK_MAX)} people at a time. If it stops, try again: it continues where it stopped.`
        : `${count(done)} of ${count(total)} done.`}
    </Text>
  );
}
