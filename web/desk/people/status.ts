import type { Person } from './people.queries';

/** One word for each status, in lists, filters and sentences. */
export const STATUS_LABELS: Readonly<Record<Person['status'], string>> = {
  waiting: 'In line',
  offered: 'Offered',
  offboarded: 'No longer in line',
  pending: 'Unconfirmed',
};

const REASONS: Readonly<Record<NonNullable<Person['removed_reason']>, string>> = {
  by_owner: 'Let in',
  accepted: 'Accepted',
  declined: 'Declined',
  expired: 'Expired',
};

/** Why somebody is no longer in line. The owner let in all people without a reason: they are older than reasons. */
export function leavingOf({ removed_reason }: Pick<Person, 'removed_reason'>): string {
  return REASONS[removed_reason ?? 'by_owner'];
}
