import '@mantine/dropzone/styles.css';
import { Skeleton, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ProblemAlert } from '../parts/problem-alert';
import { waitlistQuery } from '../queries';
import { waitlistRoute } from '../router';
import { ExportPanel } from './export.panel';
import { ImportPanel } from './import.panel';

export function TransferPage() {
  const { waitlistId } = waitlistRoute.useParams();
  const waitlist = useQuery(waitlistQuery(waitlistId));
  return (
    <Stack gap="xl" maw={880}>
      <Title order={1}>Import and export</Title>
      {waitlist.isError && <ProblemAlert error={waitlist.error} onRetry={() => void waitlist.refetch()} />}
      {waitlist.isPending && <Skeleton height={200} />}
      {waitlist.data && (
        <>
          <ImportPanel key={`import ${waitlistId}`} waitlist={waitlist.data} />
          <ExportPanel key={`export ${waitlistId}`} waitlist={waitlist.data} />
        </>
      )}
    </Stack>
  );
}
