import '@mantine/dropzone/styles.css';
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PageHeading } from '../parts/page-heading';
import { RoleGate } from '../parts/role-gate';
import { waitlistQuery } from '../queries';
import { ExportPanel } from './export.panel';
import { ImportPanel } from './import.panel';

const route = getRouteApi('/shell/$waitlistId/transfer');

export function TransferPage() {
  const { waitlistId } = route.useParams();
  const { data: waitlist } = useQuery(waitlistQuery(waitlistId));
  if (!waitlist) return null;
  return (
    <RoleGate needed="editor" title="Import and export">
      <PageHeading title="Import and export" />
      <Stack gap="lg" maw="var(--width-page)">
        <ImportPanel key={`import ${waitlistId}`} waitlist={waitlist} />
        <ExportPanel key={`export ${waitlistId}`} waitlist={waitlist} />
      </Stack>
    </RoleGate>
  );
}
