import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { ProblemAlert } from '../parts/problem-alert';
import { actsOf, stateText, stateTitle, useWaitlistChange } from '../parts/waitlist-state';
import type { Waitlist } from '../queries';
import { useMay } from '../roles';

/** Says that the waitlist is closed or private, with buttons that undo it. Nothing for an open one. */
export function StateBanner({ waitlist }: { waitlist: Waitlist }) {
  const { send, start } = useWaitlistChange(waitlist.id);
  const mayChange = useMay('editor');
  // Those that take it back happen without a question.
  const acts = actsOf(waitlist).filter(({ question }) => question === null);
  if (acts.length === 0) return null;
  return (
    <Alert color="orange" variant="light" title={stateTitle(waitlist)}>
      <Stack gap="sm">
        <Text size="sm">{stateText(waitlist)}</Text>
        {send.isError && <ProblemAlert error={send.error} onRetry={() => start(send.variables)} />}
        <Group gap="xs">
          {mayChange &&
            acts.map((act) => (
              <Button
                key={act.name}
                variant="default"
                loading={send.isPending && send.variables.done === act.done}
                onClick={() => start(act)}
              >
                {act.label}
              </Button>
            ))}
        </Group>
      </Stack>
    </Alert>
  );
}
