import { Button, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ROLE_LABELS, type Role, useMay } from '../roles';
import { PageHeading } from './page-heading';

/** A page for members who have at least the role `needed`; the others read why it is not shown. */
export function RoleGate({ needed, title, children }: { needed: Role; title: string; children: ReactNode }) {
  const may = useMay(needed);
  if (may) return children;
  return (
    <>
      <PageHeading title={title} />
      <Stack align="flex-start">
        <Text>This page needs the role “{ROLE_LABELS[needed]}”. Ask an owner of your account if you need it.</Text>
        <Button component={Link} to="/" variant="default">
          Go to your waitlists
        </Button>
      </Stack>
    </>
  );
}
