import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { SecretDialog } from '../parts/secret-dialog';

type CreatedWaitlist = components['schemas']['CreatedWaitlist'];

/** Makes a waitlist, and shows its API key, which no other page can show again. */
export function NewWaitlistDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<CreatedWaitlist | null>(null);
  const navigate = useNavigate();
  const close = () => {
    onClose();
    if (created === null) return;
    setCreated(null);
    void navigate({ to: '/$waitlistId/overview', params: { waitlistId: created.id } });
  };
  return (
    <SecretDialog
      isOpen={isOpen}
      title={created === null ? 'New waitlist' : 'Save the API key of this waitlist'}
      label="API key"
      secret={created && created.api_key}
      form={<NameForm onCreated={setCreated} onCancel={close} />}
      onClose={close}
    >
      Scripts send this key with an access token to work with this waitlist’s people. It is shown only now. If it is
      lost, replace it in the settings.
    </SecretDialog>
  );
}

function NameForm({ onCreated, onCancel }: { onCreated: (waitlist: CreatedWaitlist) => void; onCancel: () => void }) {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { waitlist_name: '' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const create = useMutation({
    mutationFn: (body: typeof form.values) => bodyOf(api.POST('/api/v1/waitlist', { body })),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
    onSuccess: (waitlist) => {
      onCreated(waitlist);
      return queries.invalidateQueries({ queryKey: ['waitlists'], exact: true });
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        <TextInput
          label="Name"
          description="People who join see it, unless you give the page a title of its own."
          required
          data-autofocus
          {...form.getInputProps('waitlist_name')}
        />
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <FormButtons act="Create waitlist" isSending={create.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
