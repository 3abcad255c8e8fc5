import { Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog, isTypedAsShown } from '../parts/confirm-dialog';
import { contactOf, erasePerson, personQuery, refreshPeople, type WholePerson } from './people.queries';

/** Erases a person for good, once their email or phone is typed. */
export function EraseDialog({
  person,
  onErased,
  onClose,
}: {
  person: WholePerson;
  onErased: () => void;
  onClose: (isUncertain: boolean) => void;
}) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const contact = contactOf(person);
  return (
    <ConfirmDialog
      title="Erase this person?"
      act="Erase this person"
      canAct={isTypedAsShown(typed, contact)}
      onConfirm={async (key) => {
        await erasePerson(person, key);
        onErased();
        notifications.show({ message: 'Erased' });
        queries.removeQueries(personQuery(person.waitlist_id, person.uuid));
        void refreshPeople(queries, person.waitlist_id);
      }}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm">
          Everything that <bdi>{contact}</bdi> gave is deleted for good, and the line closes up. This cannot be undone.
        </Text>
        <Text size="sm" c="dimmed">
          The people they referred stay on the list, their referrer keeps the places earned, and the audit log keeps an
          entry without name or email. They can join again, as a new person.
        </Text>
        <TextInput
          label={
            <>
              Type <bdi>{contact}</bdi> to confirm
            </>
          }
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </Stack>
    </ConfirmDialog>
  );
}
