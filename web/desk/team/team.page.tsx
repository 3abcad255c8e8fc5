import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Delayed } from '../parts/delayed';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { RoleGate } from '../parts/role-gate';
import { Section } from '../parts/section';
import { membersQuery } from '../queries';
import { InviteDialog } from './invite-dialog';
import { type MemberDialog, MemberDialogs } from './member-dialogs';
import { MemberTable } from './member-table';
import { TwoFactorRule } from './two-factor-rule';

/** Who logs in to the account, and as what. */
export function TeamPage() {
  return (
    <RoleGate needed="owner" title="Team">
      <Team />
    </RoleGate>
  );
}

function Team() {
  const members = useQuery(membersQuery());
  const [isInviting, setIsInviting] = useState(false);
  const [dialog, setDialog] = useState<MemberDialog | null>(null);
  return (
    <>
      <PageHeading title="Team">
        <Button onClick={() => setIsInviting(true)}>Invite a member</Button>
      </PageHeading>
      <Stack gap="xl">
        <Section title="Members" description="Each signs in with an email and a role of their own.">
          {members.isError && <ProblemAlert error={members.error} onRetry={() => void members.refetch()} />}
          {members.isPending && (
            <Delayed>
              <Skeleton height={120} />
            </Delayed>
          )}
          {members.data && (
            <MemberTable members={members.data} onManage={(member) => setDialog({ kind: 'manage', member })} />
          )}
        </Section>
        <TwoFactorRule />
      </Stack>
      <InviteDialog isOpen={isInviting} onClose={() => setIsInviting(false)} />
      <MemberDialogs dialog={dialog} onOpen={setDialog} />
    </>
  );
}
