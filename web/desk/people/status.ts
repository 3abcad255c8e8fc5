import type { Person } from './people.queries';

/** One word for each status, in lists, filters and sentences. */
export const STATUS_LABELS: Readonly<Record<Person['status'], string>> = {
  waiting: 'In line',
  offered: 'Offered',
  offboarded: 'Left the line',
  pending: 'Unconfirmed',
};

const REASONS: Readonly<Record<NonNullable<Person['removed_reason']>, string>> = {
  by_owner: 'Let in',
  accepted: 'Accepted',
  declined: 'Declined',
  expired: 'Expired',
};

/** How somebody left the line. Of people who left before the service kept a reason, the owner let all in. */
export function leavingOf({ removed_reason }: Pick<Person, 'removed_reason'>): string {
  return REASONS[removed_reason ?? 'by_owner'];
}
