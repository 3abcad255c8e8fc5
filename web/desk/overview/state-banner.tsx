import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { ProblemAlert } from '../parts/problem-alert';
import { stateText, stateTitle, useWaitlistChange } from '../parts/waitlist-state';
import type { Waitlist } from '../queries';

/** Says that the waitlist is closed or private, with buttons that undo it. Nothing for an open one. */
export function StateBanner({ waitlist }: { waitlist: Waitlist }) {
  const send = useWaitlistChange(waitlist.id);
  const { is_closed: isClosed, is_public: isPublic } = waitlist;
  if (!isClosed && isPublic) return null;
  return (
    <Alert color="orange" variant="light" title={stateTitle(waitlist)}>
      <Stack gap="sm">
        <Text size="sm">{stateText(waitlist)}</Text>
        {send.isError && <ProblemAlert error={send.error} onRetry={() => send.mutate(send.variables)} />}
        <Group gap="xs">
          {isClosed && (
            <Button
              variant="default"
              loading={send.isPending && 'is_closed' in send.variables.change}
              onClick={() => send.mutate({ change: { is_closed: false }, done: 'The waitlist is open.' })}
            >
              Open it again
            </Button>
          )}
          {!isPublic && (
            <Button
              variant="default"
              loading={send.isPending && 'is_public' in send.variables.change}
              onClick={() => send.mutate({ change: { is_public: true }, done: 'The waitlist is public.' })}
            >
              Make it public again
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
