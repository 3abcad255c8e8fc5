import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { SecretDialog } from '../parts/secret-dialog';
import { membersQuery } from '../queries';
import type { Role } from '../roles';
import { RoleChoice } from './role-choice';

/** What the service tells of an invitation that it made. */
export interface MadeInvitation {
  readonly email: string;
  readonly mailed: boolean;
  readonly invitation_url: string;
}

/** Invites somebody; shows the link if no mail takes it to them. */
export function InviteDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<MadeInvitation | null>(null);
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <SecretDialog
      isOpen={isOpen}
      title={made === null ? 'Invite a member' : 'Send this invitation'}
      label="Invitation link"
      secret={made?.invitation_url ?? null}
      form={
        <InviteForm
          onInvited={(invitation) => {
            if (!invitation.mailed) return setMade(invitation);
            tellMailed(invitation);
            close();
          }}
          onCancel={close}
        />
      }
      onClose={close}
    >
      {made && <SendYourself email={made.email} />}
    </SecretDialog>
  );
}

export function tellMailed({ email }: MadeInvitation): void {
  notifications.show({ message: `We mailed the invitation to ${email}.` });
}

/** Beside the link of an invitation that no mail takes to the invited. */
export function SendYourself({ email }: { email: string }) {
  return (
    <>
      No mail went out. Send this link to <bdi>{email}</bdi> yourself: it is shown only now, and works once, for seven
      days. Nobody else should get it.
    </>
  );
}

/** An alias, because an interface is not assignable to the `Record` that `showFaults` takes. */
type Values = { email: string; name: string; role: Role };

function InviteForm({
  onInvited,
  onCancel,
}: {
  onInvited: (invitation: MadeInvitation) => void;
  onCancel: () => void;
}) {
  const queries = useQueryClient();
  const form = useForm<Values>({ initialValues: { email: '', name: '', role: 'editor' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const invite = useMutation({
    mutationFn: ({ name, ...values }: Values) =>
      bodyOf(
        api.POST('/api/v1/member', {
          params: { header: { 'Idempotency-Key': nanoid() } },
          body: { ...values, name: name.trim() || null },
        }),
      ),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
    onSuccess: (invitation) => {
      onInvited(invitation);
      return queries.invalidateQueries(membersQuery());
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack>
        <TextInput
          label="Email"
          type="email"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('email')}
        />
        <TextInput
          label="Name"
          description="You can leave it empty."
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <RoleChoice {...form.getInputProps('role')} />
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <FormButtons act="Invite" isSending={invite.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
