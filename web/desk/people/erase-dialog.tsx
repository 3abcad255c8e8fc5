import { Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog, isTypedAsShown } from '../parts/confirm-dialog';
import { count, countPeople } from '../parts/format';
import { BulkProgress } from './bulk-progress';
import { contactOf, erasePeople, type Person, personQuery, refreshPeople } from './people.queries';

/** Erases people for good, once the email or phone of the only one, or the number of all, is typed. */
export function EraseDialog({
  waitlistId,
  people,
  onErased,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  onErased: () => void;
  onClose: (isUncertain: boolean) => void;
}) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const [done, setDone] = useState(0);
  const [first] = people;
  const isOne = people.length === 1;
  const who = isOne && first ? contactOf(first) : countPeople(people.length);
  const proof = isOne ? who : count(people.length);
  return (
    <ConfirmDialog
      title={isOne ? 'Erase this person?' : `Erase ${who}?`}
      act={isOne ? 'Erase this person' : `Erase ${who}`}
      canAct={isTypedAsShown(typed, proof)}
      onConfirm={async (key) => {
        await erasePeople(waitlistId, people, key, setDone);
        onErased();
        notifications.show({ message: isOne ? 'Erased' : `${who} erased` });
        for (const { uuid } of people) queries.removeQueries(personQuery(waitlistId, uuid));
        void refreshPeople(queries, waitlistId);
      }}
      onClose={(isUncertain) => onClose(isUncertain || done > 0)}
    >
      <Text size="sm">
        Everything that <bdi>{who}</bdi> gave is deleted for good, and the line closes up. This cannot be undone.
      </Text>
      <Text size="sm" c="dimmed">
        The people they referred stay on the list, their referrer keeps the places earned, and the audit log keeps an
        entry without name or email. They can join again, as {isOne ? 'a new person' : 'new people'}.
      </Text>
      <TextInput
        label={
          <>
            Type <bdi>{proof}</bdi> to confirm
          </>
        }
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <BulkProgress done={done} total={people.length} />
    </ConfirmDialog>
  );
}
