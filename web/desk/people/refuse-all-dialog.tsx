import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { count, countPlaces, countReferrals } from '../parts/format';
import { waitlistQuery } from '../queries';
import { contactOf, refreshPeople, refuseReferrals, type WholePerson } from './people.queries';

/** Refuses all referrals of a person. */
export function RefuseAllDialog({ person, onClose }: { person: WholePerson; onClose: (isUncertain: boolean) => void }) {
  const queries = useQueryClient();
  const waitlist = useQuery(waitlistQuery(person.waitlist_id));
  const places = person.amount_referred * (waitlist.data?.spots_to_move_upon_referral ?? 0);
  const refuse = async (key: string) => {
    const refused = await refuseReferrals(person, key);
    await refreshPeople(queries, person.waitlist_id);
    notifications.show({ message: `${countReferrals(refused)} refused` });
  };
  return (
    <ConfirmDialog title="Refuse all referrals of this person?" act="Refuse all" onConfirm={refuse} onClose={onClose}>
      <Text size="sm">
        {count(person.amount_referred)} of them {person.amount_referred === 1 ? 'counts' : 'count'} now.{' '}
        {places > 0 && (
          <>
            <bdi>{contactOf(person)}</bdi> moves back by up to {countPlaces(places)}.{' '}
          </>
        )}
        The people who came keep their places. You can approve their referrals later, one by one. The rules decide on
        new referrals, as before.
      </Text>
    </ConfirmDialog>
  );
}
