import { Stack } from '@mantine/core';
import { PageHeading } from '../parts/page-heading';
import { RoleGate } from '../parts/role-gate';
import { AccountKeys } from './account-keys';
import { AccountName } from './account-name';
import { AuditLog } from './audit-log';

export function AccountPage() {
  return (
    <RoleGate needed="owner" title="Account">
      <PageHeading title="Account" />
      <Stack gap="xl">
        <AccountName />
        <AccountKeys />
        <AuditLog />
      </Stack>
    </RoleGate>
  );
}
