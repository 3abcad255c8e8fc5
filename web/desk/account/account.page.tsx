import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { signOut } from '../session';
import { AccountKeys } from './account-keys';
import { AuditLog } from './audit-log';
import { Logins } from './logins';
import { PasswordForm } from './password-form';

export function AccountPage() {
  const leave = useMutation({ mutationFn: signOut });
  return (
    <>
      <PageHeading title="Account">
        <Button variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
          Sign out
        </Button>
      </PageHeading>
      <Stack gap="xl">
        {leave.isError && <ProblemAlert error={leave.error} onRetry={() => leave.mutate()} />}
        <PasswordForm />
        <Logins />
        <AccountKeys />
        <AuditLog />
      </Stack>
    </>
  );
}
