import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { countPeople, countReferrals } from '../parts/format';
import { BulkProgress } from './bulk-progress';
import { decideReferrals, type Person, refreshPeople } from './people.queries';

const TEXTS = {
  credited: {
    one: 'The referrer moves forward. If this person still has to confirm the email, the referral counts after that.',
    many: 'Their referrers move forward. Where an email still has to be confirmed, the referral counts after that.',
  },
  refused: {
    one: 'The referrer loses any places that this referral earned. Nothing changes for this person. You can approve the referral later.',
    many: 'Their referrers lose any places that these referrals earned. Nothing changes for the people themselves. You can approve the referrals later.',
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
  const [done, setDone] = useState(0);
  const isApproval = credit === 'credited';
  const act = isApproval ? 'Approve' : 'Refuse';
  const decide = async (key: string) => {
    try {
      const changed = await decideReferrals(waitlistId, people, credit, key, setDone);
      notifications.show({ message: `${countReferrals(changed)} ${isApproval ? 'approved' : 'refused'}` });
    } finally {
      await refreshPeople(queries, waitlistId);
    }
    onDone();
  };
  return (
    <ConfirmDialog
      title={`${act} ${people.length === 1 ? 'this referral' : `the referrals of ${countPeople(people.length)}`}?`}
      act={people.length === 1 ? act : `${act} ${countReferrals(people.length)}`}
      {...(isApproval && { color: 'indigo' })}
      onConfirm={decide}
      onClose={onClose}
    >
      <Text size="sm">{TEXTS[credit][people.length === 1 ? 'one' : 'many']}</Text>
      <BulkProgress done={done} total={people.length} />
    </ConfirmDialog>
  );
}
