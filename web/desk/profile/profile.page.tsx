import { Alert, Button, DataList, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, bodyOf } from '../api';
import { wordsOfSso } from '../fault-words';
import { useNeedsSecondFactor } from '../needs-second-factor';
import { NameForm } from '../parts/name-form';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { accountQuery, ownMemberQuery, signInMethodsQuery } from '../queries';
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from '../roles';
import { signOut } from '../session';
import { Logins } from './logins';
import { PasswordForm } from './password-form';
import { SingleSignOn } from './single-sign-on';
import { TwoFactor } from './two-factor';

const route = getRouteApi('/shell/profile');

/** The member who is signed in, and how. */
export function ProfilePage() {
  const queries = useQueryClient();
  const { error: linkError } = route.useSearch();
  const { data: me } = useQuery(ownMemberQuery());
  const account = useQuery(accountQuery());
  const methods = useQuery(signInMethodsQuery());
  const needsSecondFactor = useNeedsSecondFactor();
  const leave = useMutation({ mutationFn: signOut });
  if (!me) return null;
  const usesPassword = methods.data?.password === true && me.sign_in.includes('password');
  return (
    <>
      <PageHeading title="Profile">
        <Button variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
          Sign out
        </Button>
      </PageHeading>
      <Stack gap="xl">
        {leave.isError && <ProblemAlert error={leave.error} onRetry={() => leave.mutate()} />}
        {linkError !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {linkError === 'SSO_REFUSED'
              ? 'Nothing was linked: the sign-in did not work, or belongs to another member already.'
              : wordsOfSso(linkError)}
          </Alert>
        )}
        {needsSecondFactor && (
          <Alert color="orange" variant="light" title="Your account requires a second factor">
            <Text size="sm">Set it up below. Everything else opens as soon as that is done.</Text>
          </Alert>
        )}
        {/* The key keeps its dialog, which shows the recovery codes, when it moves. */}
        {needsSecondFactor && <TwoFactor key="second factor" me={me} />}
        <Section title="You">
          <Stack gap="lg">
            <DataList gap={6}>
              <DataList.Item>
                <DataList.ItemLabel>Email</DataList.ItemLabel>
                <DataList.ItemValue style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
                  <bdi>{me.email}</bdi>
                </DataList.ItemValue>
              </DataList.Item>
              {account.data?.name && (
                <DataList.Item>
                  <DataList.ItemLabel>Account</DataList.ItemLabel>
                  <DataList.ItemValue style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
                    <bdi>{account.data.name}</bdi>
                  </DataList.ItemValue>
                </DataList.Item>
              )}
              <DataList.Item>
                <DataList.ItemLabel>Role</DataList.ItemLabel>
                <DataList.ItemValue>
                  {ROLE_LABELS[me.role]}
                  <Text size="sm" c="dimmed">
                    {ROLE_DESCRIPTIONS[me.role]}
                  </Text>
                </DataList.ItemValue>
              </DataList.Item>
            </DataList>
            <NameForm
              label="Your name"
              description="The members of your account see it."
              autoComplete="name"
              name={me.name}
              onSave={async (name) =>
                queries.setQueryData(
                  ownMemberQuery().queryKey,
                  await bodyOf(api.PATCH('/api/v1/member/me', { body: { name } })),
                )
              }
            />
          </Stack>
        </Section>
        {methods.isError && <ProblemAlert error={methods.error} onRetry={() => void methods.refetch()} />}
        {usesPassword && <PasswordForm />}
        {usesPassword && !needsSecondFactor && <TwoFactor key="second factor" me={me} />}
        {methods.data?.sso && <SingleSignOn me={me} name={methods.data.sso.name} />}
        <Logins />
      </Stack>
    </>
  );
}
