import { Badge, Button, Group, Skeleton, Table } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { Delayed } from '../parts/delayed';
import { HeadRow } from '../parts/head-row';
import { ProblemAlert } from '../parts/problem-alert';
import { RelativeTime } from '../parts/relative-time';
import { Section } from '../parts/section';
import tableClasses from '../parts/table.module.css';
import { sessionsQuery } from '../queries';

type Session = components['schemas']['Session'];

export function Logins() {
  const queries = useQueryClient();
  const sessions = useQuery(sessionsQuery());
  const [ending, setEnding] = useState<Session | null>(null);
  return (
    <Section
      title="Logins"
      description="Browsers and scripts that are signed in as you. A login ends after 90 days, or earlier if it is not used."
    >
      {sessions.isError && <ProblemAlert error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {sessions.isPending && (
        <Delayed>
          <Skeleton height={80} />
        </Delayed>
      )}
      {sessions.data && (
        <Table.ScrollContainer minWidth={420} type="native">
          <Table>
            <HeadRow columns={['Where', 'Signed in', 'Last used', '']} />
            <Table.Tbody>
              {sessions.data.map((session) => (
                <Table.Tr key={session.id}>
                  <Table.Th scope="row" fw={500}>
                    <bdi>{session.client ?? 'Unknown'}</bdi>
                  </Table.Th>
                  <Table.Td>
                    <RelativeTime time={session.created_at} />
                  </Table.Td>
                  <Table.Td>
                    <RelativeTime time={session.last_used_at} />
                  </Table.Td>
                  <Table.Td className={tableClasses.act}>
                    <Group justify="flex-end">
                      {session.current ? (
                        <Badge variant="default" miw="max-content">
                          This login
                        </Badge>
                      ) : (
                        <Button
                          size="compact-sm"
                          variant="default"
                          aria-label={`End the login of ${session.client ?? 'an unknown client'}`}
                          onClick={() => setEnding(session)}
                        >
                          End
                        </Button>
                      )}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <ConfirmDialog
        isOpen={ending !== null}
        title="End this login?"
        act="End login"
        onClose={() => setEnding(null)}
        onConfirm={async () => {
          if (ending === null) return;
          await bodyOf(api.DELETE('/api/v1/auth/session/{id}', { params: { path: { id: ending.id } } }));
          await queries.invalidateQueries(sessionsQuery());
        }}
      >
        Its browser or script must sign in again.
      </ConfirmDialog>
    </Section>
  );
}
