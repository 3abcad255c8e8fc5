import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { count, countPeople } from '../parts/format';
import { BulkProgress } from './bulk-progress';
import { type Person, refreshPeople, returnPeople } from './people.queries';
import { tellReturned } from './undo';

/** Puts people who have an open offer, or are no longer in line, back to their places. */
export function ReturnDialog({
  waitlistId,
  people,
  onDone,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  onDone: () => void;
  onClose: (isUncertain: boolean) => void;
}) {
  const queries = useQueryClient();
  const [done, setDone] = useState(0);
  const isOne = people.length === 1;
  const put = async (key: string) => {
    try {
      tellReturned((await returnPeople(waitlistId, people, key, setDone)).length);
    } finally {
      await refreshPeople(queries, waitlistId);
    }
    onDone();
  };
  return (
    <ConfirmDialog
      title={`Put ${isOne ? 'this person' : countPeople(people.length)} back in line?`}
      act={`Put ${isOne ? 'them' : countPeople(people.length)} back in line`}
      color="indigo"
      onConfirm={put}
      onClose={onClose}
    >
      <Text size="sm">
        They go back to exactly the place that their signup, their referrals and granted places give now.
      </Text>
      <Consequences people={people} />
      <BulkProgress done={done} total={people.length} />
    </ConfirmDialog>
  );
}

function Consequences({ people }: { people: readonly Person[] }) {
  const offered = people.filter(({ status }) => status === 'offered').length;
  const letIn = people.filter(
    ({ status, removed_reason: reason }) => status === 'offboarded' && reason !== 'declined' && reason !== 'expired',
  ).length;
  return (
    <>
      {offered > 0 && (
        <Text size="sm">{offered === 1 ? 'The open offer is' : `${count(offered)} open offers are`} withdrawn.</Text>
      )}
      {letIn > 0 && (
        <Text size="sm">
          {letIn === people.length ? 'They were' : `${countPeople(letIn)} of them ${letIn === 1 ? 'was' : 'were'}`} let
          in: if your product has given them access, remove it there.
        </Text>
      )}
    </>
  );
}
