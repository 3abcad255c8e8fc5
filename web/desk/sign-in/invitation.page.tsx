import { Anchor, Button, Divider, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { bodyOf, publicApi } from '../api';
import { PageSkeleton } from '../parts/delayed';
import { showFaults } from '../parts/field-faults';
import { ProblemAlert } from '../parts/problem-alert';
import { Problem } from '../problem';
import { signInMethodsQuery } from '../queries';
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from '../roles';
import { signIn } from '../session';
import { useStore } from '../store';
import { linkToken } from './link-token';
import { NewPasswordInput } from './new-password-input';
import { PlainPage } from './plain-page';
import { ProviderButton } from './provider-button';

interface Invitation {
  readonly email: string;
}

/** Where the link of an invitation leads to. */
export function InvitationPage() {
  const token = useStore(linkToken);
  return token === null ? <EndedInvitation /> : <Invited key={token} token={token} />;
}

function Invited({ token }: { token: string }) {
  const methods = useQuery(signInMethodsQuery());
  const invitation = useQuery({
    queryKey: ['invitation', token],
    staleTime: Infinity,
    // Whoever comes back to this page after accepting must not find the form again.
    gcTime: 0,
    queryFn: async ({ signal }) => bodyOf(publicApi.POST('/api/v1/auth/invitation', { body: { token }, signal })),
  });
  const [isEnded, setIsEnded] = useState(false);
  const error = invitation.error ?? methods.error;
  if (isEnded || isLinkGone(error)) return <EndedInvitation />;
  if (error)
    return (
      <PlainPage title="Invitation">
        <ProblemAlert error={error} onRetry={() => void Promise.all([invitation.refetch(), methods.refetch()])} />
      </PlainPage>
    );
  if (!invitation.data || !methods.data)
    return (
      <main>
        <PageSkeleton />
      </main>
    );
  const { email, role, account_name: account } = invitation.data;
  const { password: hasPasswords, sso } = methods.data;
  return (
    <PlainPage title={account === null ? 'You are invited' : `Join ${account}`}>
      <div>
        <Text style={{ overflowWrap: 'anywhere' }}>
          You are invited as <bdi>{email}</bdi>.
        </Text>
        <Text size="sm" c="dimmed">
          Your role: {ROLE_LABELS[role]}. {ROLE_DESCRIPTIONS[role]}
        </Text>
      </div>
      {hasPasswords && <AcceptForm token={token} invitation={invitation.data} onEnded={() => setIsEnded(true)} />}
      {hasPasswords && sso && <Divider label="or without a password" />}
      {sso && <ProviderButton name={sso.name} />}
    </PlainPage>
  );
}

function AcceptForm({
  token,
  invitation: { email },
  onEnded,
}: {
  token: string;
  invitation: Invitation;
  onEnded: () => void;
}) {
  const navigate = useNavigate();
  const form = useForm({ initialValues: { name: '', password: '' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const accept = useMutation({
    mutationFn: async ({ name, password }: typeof form.values) => {
      const body = { token, password, name: name.trim() || null };
      await bodyOf(publicApi.POST('/api/v1/auth/invitation/accept', { body }));
      // Whoever cannot be signed in now finds the form for it at the first page.
      await signIn({ email, password }).catch(() => undefined);
      await navigate({ to: '/', replace: true });
    },
    onMutate: () => setUnplaced(null),
    onError: (error) => (isLinkGone(error) ? onEnded() : setUnplaced(showFaults(error, form))),
  });
  return (
    <form onSubmit={form.onSubmit((values) => accept.mutate(values))}>
      <Stack>
        {/* For password managers. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <TextInput
          label="Your name"
          description="Shown to the members of your account. You can leave it empty."
          autoComplete="name"
          autoFocus
          {...form.getInputProps('name')}
        />
        <NewPasswordInput label="Password" {...form.getInputProps('password')} />
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <Button type="submit" loading={accept.isPending}>
          Accept the invitation
        </Button>
      </Stack>
    </form>
  );
}

function isLinkGone(error: unknown): boolean {
  return error instanceof Problem && error.code === 'LINK_NOT_FOUND';
}

function EndedInvitation() {
  return (
    <PlainPage title="This invitation has ended">
      <Text>
        An invitation works once, for seven days, until a newer one is made. If you have just reloaded the page, open
        the link again. Otherwise ask the person who invited you for a new one.
      </Text>
      <Anchor component={Link} to="/">
        Go to sign in
      </Anchor>
    </PlainPage>
  );
}
