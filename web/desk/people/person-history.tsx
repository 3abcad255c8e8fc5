import { Button, Text, Timeline } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ProblemAlert } from '../parts/problem-alert';
import { RelativeTime } from '../parts/relative-time';
import { PlainSection } from '../parts/section';
import { auditQuery } from '../queries';
import type { HistoryEvent, WholePerson } from './people.queries';

const ACTIONS: Readonly<Partial<Record<HistoryEvent['action'], string>>> = {
  waiters_offboarded: 'Let in',
  offers_made: 'Offered a seat',
  offer_link_made: 'New link for the offer',
  offer_accepted: 'Offer accepted',
  offer_declined: 'Offer declined',
  offers_expired: 'Offer expired',
  waiters_returned: 'Put back in line',
  waiter_corrected: 'Edited or moved',
  credit_approved: 'Referral approved',
  credit_refused: 'Referral refused',
  waiters_imported: 'Imported',
  referrals_refused: 'All referrals refused',
};

/** What happened to a person, latest first, from the audit log. */
export function History({ person: { waitlist_id, uuid, created_at } }: { person: WholePerson }) {
  const history = useInfiniteQuery(auditQuery({ waitlist: waitlist_id, uuid }));
  const events = history.data?.pages.flat() ?? [];
  if (history.isError && events.length === 0)
    return (
      <PlainSection isDense title="History">
        <ProblemAlert error={history.error} onRetry={() => void history.refetch()} />
      </PlainSection>
    );
  return (
    <PlainSection isDense title="History">
      <Timeline bulletSize={12} lineWidth={2}>
        {events.map(({ id, action, created_at: time }) => (
          <Timeline.Item key={id} title={ACTIONS[action] ?? action}>
            <Text size="sm" c="dimmed">
              <RelativeTime time={time} />
            </Text>
          </Timeline.Item>
        ))}
        {!history.hasNextPage && (
          <Timeline.Item title="Joined">
            <Text size="sm" c="dimmed">
              <RelativeTime time={created_at} />
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
      {history.hasNextPage && (
        <Button
          variant="default"
          size="compact-sm"
          loading={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          Show earlier
        </Button>
      )}
    </PlainSection>
  );
}
