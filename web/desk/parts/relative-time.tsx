import { Tooltip } from '@mantine/core';
import { momentOf } from './format';

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/**
 * A time of the API, as "3 days ago"; the exact local and UTC time on hover and focus. A table whose rows take the
 * focus sets `isFocusable` to false.
 */
export function RelativeTime({ time, isFocusable = true }: { time: string; isFocusable?: boolean }) {
  const moment = momentOf(time);
  const seconds = (moment.getTime() - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return (
    <Tooltip
      label={`${LOCAL.format(moment)} · ${moment.toISOString().slice(0, 19).replace('T', ' ')} UTC`}
      events={{ hover: true, focus: true, touch: true }}
    >
      <time dateTime={moment.toISOString()} tabIndex={isFocusable ? 0 : undefined}>
        {RELATIVE.format(Math.round(seconds / size), unit)}
      </time>
    </Tooltip>
  );
}
