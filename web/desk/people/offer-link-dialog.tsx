import { Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { SecretDialog } from '../parts/secret-dialog';
import { contactOf, refreshPeople, renewOfferLink, type WholePerson } from './people.queries';

/** Makes a new link for the open offer of a person, and shows it once. */
export function OfferLinkDialog({ person, onClose }: { person: WholePerson; onClose: () => void }) {
  const [key] = useState(() => nanoid());
  const queries = useQueryClient();
  const renew = useMutation({
    mutationFn: async () => renewOfferLink(person.uuid, key),
    // An offer that has ended meanwhile is news, too.
    onSettled: () => void refreshPeople(queries, person.waitlist_id),
  });
  const link = renew.data ?? null;
  return (
    <SecretDialog
      isOpen
      title={link === null ? 'Make a new link?' : 'Send this link'}
      label="Link of the offer"
      secret={link}
      onClose={onClose}
      form={
        <form
          onSubmit={(event) => {
            event.preventDefault();
            renew.mutate();
          }}
        >
          <Stack>
            <Text size="sm">The old link stops working, also in mails. The offer keeps its time.</Text>
            {renew.isError && <ProblemAlert error={renew.error} />}
            <FormButtons act="Make a new link" isSending={renew.isPending} onCancel={onClose} />
          </Stack>
        </form>
      }
    >
      Send it to <bdi>{contactOf(person)}</bdi> yourself: it is shown only now. Anybody who has it can accept or decline
      the offer.
    </SecretDialog>
  );
}
