import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { countPeople } from '../parts/format';
import { type Person, refreshPeople, updatePerson } from './people.queries';

const TEXTS = {
  credited: {
    one: 'The referrer moves forward. If this person still has to confirm the address, the referral counts after that.',
    many: 'Their referrers move forward. Where an address still has to be confirmed, the referral counts after that.',
  },
  refused: {
    one: 'The referrer loses any places that this referral earned. The person keeps their place. You can approve the referral later.',
    many: 'Their referrers lose any places that these referrals earned. The people themselves keep their places. You can approve the referrals later.',
  },
} as const;

/** Approves or refuses the referrals by which these people came. */
export function DecideDialog({
  waitlistId,
  people,
  credit,
  onDone,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  credit: 'credited' | 'refused';
  onDone: () => void;
  onClose: (isUncertain: boolean) => void;
}) {
  const queries = useQueryClient();
  const isApproval = credit === 'credited';
  const act = isApproval ? 'Approve' : 'Refuse';
  const decide = async (key: string) => {
    try {
      // One after the other: each moves its referrer, and they change the same queue.
      for (const { uuid } of people) await updatePerson(uuid, { credit }, `${key}-${uuid}`);
    } finally {
      await refreshPeople(queries, waitlistId);
    }
    onDone();
  };
  return (
    <ConfirmDialog
      title={`${act} ${people.length === 1 ? 'this referral' : `the referrals of ${countPeople(people.length)}`}?`}
      act={act}
      {...(isApproval && { color: 'indigo' })}
      onConfirm={decide}
      onClose={onClose}
    >
      <Text size="sm">{TEXTS[credit][people.length === 1 ? 'one' : 'many']}</Text>
    </ConfirmDialog>
  );
}
