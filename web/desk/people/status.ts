import type { Person } from './people.queries';

/** One word for each status, in lists, filters and sentences. */
export const STATUS_LABELS: Readonly<Record<Person['status'], string>> = {
  waiting: 'In line',
  offboarded: 'Let in',
  pending: 'Unconfirmed',
};
