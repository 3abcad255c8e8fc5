import { Button, Group, List, Progress, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { useFocusKeeper } from '../parts/use-focus-keeper';
import { type Waitlist, waitlistQuery } from '../queries';
import { useMay } from '../roles';
import { clockOf, plannedOf, planSentence, type ReleasePlan, seatsSentence } from './plan';
import { RunNowDialog } from './run-now-dialog';

/** What the saved plan does, with buttons that pause it and run it at once: not part of the form that is saved. */
export function PlanState({ waitlist, plan }: { waitlist: Waitlist; plan: ReleasePlan }) {
  const queries = useQueryClient();
  const mayChange = useMay('editor');
  const [isRunning, setIsRunning] = useState(false);
  const keepFocus = useFocusKeeper(isRunning);
  const turn = useMutation({
    mutationFn: async (isActive: boolean) => {
      // A plan is replaced as a whole, and somebody else may have changed it meanwhile.
      const { release_plan: now } = await queries.fetchQuery({ ...waitlistQuery(waitlist.id), staleTime: 0 });
      return bodyOf(
        api.PATCH('/api/v1/waitlist/{waitlist_id}', {
          params: { path: { waitlist_id: waitlist.id } },
          body: { release_plan: now && { ...plannedOf(now), is_active: isActive } },
        }),
      );
    },
    onSuccess: (updated, isActive) => {
      queries.setQueryData(waitlistQuery(waitlist.id).queryKey, updated);
      notifications.show({ message: isActive ? 'The plan is active.' : 'The plan is paused.' });
    },
  });
  return (
    <Section title={titleOf(plan)} description={planSentence(plan)}>
      <Stack gap="sm">
        <Seats plan={plan} />
        <NextRuns plan={plan} />
        {turn.isError && <ProblemAlert error={turn.error} onRetry={() => turn.mutate(turn.variables)} />}
        {mayChange && (
          <Group gap="xs">
            <Button variant="default" loading={turn.isPending} onClick={() => turn.mutate(!plan.is_active)}>
              {plan.is_active ? 'Pause' : 'Resume'}
            </Button>
            <Button
              variant="default"
              onClick={() => {
                keepFocus();
                setIsRunning(true);
              }}
            >
              Run now
            </Button>
          </Group>
        )}
      </Stack>
      {isRunning && <RunNowDialog waitlist={waitlist} onClose={() => setIsRunning(false)} />}
    </Section>
  );
}

function titleOf({ is_active: isActive, next_runs: runs }: ReleasePlan): string {
  if (!isActive) return 'The plan is paused';
  return runs.length === 0 ? 'The plan has no more runs' : 'The plan is active';
}

function Seats({ plan }: { plan: ReleasePlan }) {
  const { seats, seats_taken: taken } = plan;
  const isFull = seats !== null && taken >= seats;
  return (
    <div>
      <Text size="sm">
        {seatsSentence(plan)}
        {isFull && ' Runs offer no more until you raise the number or a seat becomes free.'}
      </Text>
      {seats !== null && (
        <Progress
          value={Math.min(100, (taken / seats) * 100)}
          mt={6}
          maw="var(--width-field)"
          aria-label="Seats taken"
        />
      )}
    </div>
  );
}

function NextRuns({ plan: { is_active: isActive, next_runs: runs, time_zone: zone } }: { plan: ReleasePlan }) {
  if (!isActive)
    return (
      <Text size="sm" c="dimmed">
        No run is planned while it is paused. Runs during the pause are not made up.
      </Text>
    );
  if (runs.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No run is planned until its last day.
      </Text>
    );
  const clock = clockOf(zone);
  return (
    <div>
      <Text size="sm">Next runs:</Text>
      <List size="sm" aria-label="Next runs">
        {runs.map((time) => (
          <List.Item key={time}>
            <time dateTime={time}>{clock.format(new Date(time))}</time>
          </List.Item>
        ))}
      </List>
    </div>
  );
}
