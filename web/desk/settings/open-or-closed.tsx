import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { type Act, actsOf, stateText, stateTitle, useWaitlistChange } from '../parts/waitlist-state';
import type { Waitlist } from '../queries';
import { useMay } from '../roles';

/** Opens and closes the waitlist, and makes it public or private, at once: not part of the form that is saved. */
export function OpenOrClosed({ waitlist }: { waitlist: Waitlist }) {
  const [isAsking, setIsAsking] = useState(false);
  // Stays while the dialog fades.
  const [asked, setAsked] = useState<Act | null>(null);
  const { send, start } = useWaitlistChange(waitlist.id);
  const mayChange = useMay('editor');
  const ask = (act: Act) => {
    setAsked(act);
    setIsAsking(true);
  };
  return (
    <Section title={stateTitle(waitlist)} description={stateText(waitlist)}>
      <Stack gap="sm">
        {send.isError && !isAsking && <ProblemAlert error={send.error} onRetry={() => start(send.variables)} />}
        <Group gap="xs">
          {mayChange &&
            actsOf(waitlist).map((one) => (
              <Button
                key={one.name}
                variant="default"
                loading={send.isPending && send.variables.done === one.done}
                onClick={() => (one.question ? ask(one) : start(one))}
              >
                {one.label}
              </Button>
            ))}
        </Group>
      </Stack>
      <ConfirmDialog
        isOpen={isAsking}
        title={asked?.question?.title}
        act={asked?.label ?? ''}
        color="indigo"
        onConfirm={() => (asked ? send.mutateAsync(asked) : Promise.resolve())}
        onClose={() => setIsAsking(false)}
      >
        <Text size="sm">{asked?.question?.text}</Text>
      </ConfirmDialog>
    </Section>
  );
}
