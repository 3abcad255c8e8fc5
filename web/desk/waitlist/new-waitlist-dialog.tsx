import { Checkbox, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { OWN_DIRECTION } from '../theme';

type CreateWaitlist = components['schemas']['CreateWaitlist'];

/** An alias, because an interface is not assignable to the `Record` that `showFaults` takes. */
type Values = {
  waitlist_name: string;
  /** What the form asks for besides the email. */
  required_contact: ('first_name' | 'last_name' | 'phone')[];
};

/**
 * Creates a waitlist and opens it. Does not show its API key: few owners need one, and can make one on the tab Keys.
 */
export function NewWaitlistDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New waitlist" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <NewWaitlistForm onClose={onClose} />
    </Modal>
  );
}

function NewWaitlistForm({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const form = useForm<Values>({ initialValues: { waitlist_name: '', required_contact: [] } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const create = useMutation({
    mutationFn: (values: Values) => bodyOf(api.POST('/api/v1/waitlist', { body: settingsOf(values) })),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
    onSuccess: async ({ id }) => {
      onClose();
      await navigate({ to: '/$waitlistId/overview', params: { waitlistId: id } });
      await queries.invalidateQueries({ queryKey: ['waitlists'], exact: true });
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        <TextInput
          label="Name"
          description="The title of the signup page, unless you give it another."
          attributes={OWN_DIRECTION}
          required
          data-autofocus
          {...form.getInputProps('waitlist_name')}
        />
        <Checkbox.Group
          label="Besides the email, ask for"
          description="Each is optional for people who join. With first names, the page says who invited a visitor. You can change this and add questions later."
          {...form.getInputProps('required_contact')}
        >
          <Group mt="xs">
            <Checkbox value="first_name" label="First name" />
            <Checkbox value="last_name" label="Last name" />
            <Checkbox value="phone" label="Phone" />
          </Group>
        </Checkbox.Group>
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <FormButtons act="Create waitlist" isSending={create.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}

/** Defaults of the desk, which differ from those of the API: the email alone, share links, and the inviter's name. */
function settingsOf({ waitlist_name, required_contact: asked }: Values): CreateWaitlist {
  const presence = (field: Values['required_contact'][number]) => (asked.includes(field) ? 'optional' : 'off');
  return {
    waitlist_name,
    required_contact: {
      email: 'required',
      phone: presence('phone'),
      first_name: presence('first_name'),
      last_name: presence('last_name'),
    },
    uses_firstname_lastname: asked.includes('first_name') || asked.includes('last_name'),
    widget_shows_social_links: true,
    shows_inviter: asked.includes('first_name'),
  };
}
