import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { OFFERING } from '../bounds';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { count, countPeople } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { Preview } from '../people/offer';
import { refreshPeople } from '../people/people.queries';
import { mayHaveArrived } from '../problem';
import type { Waitlist } from '../queries';
import { seatsSentence } from './plan';
import { releasePreviewQuery, runRelease } from './release.queries';

/** The most people that one preview names. */
const NAMED_MAX = OFFERING.count.maximum;

/** Names those who would get an offer, and runs the plan once, now. */
export function RunNowDialog({ waitlist, onClose }: { waitlist: Waitlist; onClose: () => void }) {
  const queries = useQueryClient();
  // A run that may have been made changes the preview of the next.
  const [isSent, setIsSent] = useState(false);
  const preview = useQuery({ ...releasePreviewQuery(waitlist.id), enabled: !isSent });
  const number = preview.data?.offered;
  const run = async (key: string) => {
    setIsSent(true);
    const { state, offered } = await runRelease(waitlist.id, key).catch((error: unknown) => {
      setIsSent(mayHaveArrived(error));
      throw error;
    });
    notifications.show({
      message: state === 'running' ? 'The run goes on in the background' : `${countPeople(offered)} offered a seat`,
    });
    await refreshPeople(queries, waitlist.id);
  };
  const close = (isUncertain: boolean) => {
    if (isUncertain) void refreshPeople(queries, waitlist.id);
    onClose();
  };
  return (
    <ConfirmDialog
      title="Run the plan now?"
      act={number === undefined || number === 0 ? 'Offer seats' : `Offer ${countPeople(number)} a seat`}
      color="indigo"
      canAct={number !== undefined && number > 0}
      retryText="the plan does not run twice."
      onConfirm={run}
      onClose={close}
    >
      {preview.isError && <ProblemAlert error={preview.error} onRetry={() => void preview.refetch()} />}
      {number === 0 && (
        <Text size="sm">
          Nobody would get an offer now. {waitlist.release_plan && seatsSentence(waitlist.release_plan)}{' '}
          {waitlist.statistics.current_signups === 0 && 'Nobody is in line.'}
        </Text>
      )}
      {number !== undefined && number > 0 && (
        <>
          <Text size="sm">This is an extra run. The planned runs stay as they are.</Text>
          {number > NAMED_MAX && (
            <Text size="sm">
              {count(number)} people would get an offer. These are the first {count(NAMED_MAX)}.
            </Text>
          )}
          <Preview waitlistId={waitlist.id} number={Math.min(number, NAMED_MAX)} isLocked={isSent} />
        </>
      )}
    </ConfirmDialog>
  );
}
