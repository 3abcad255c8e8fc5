import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { stateText, stateTitle, useWaitlistChange, type WaitlistChange } from '../parts/waitlist-state';
import type { Waitlist } from '../queries';

interface Act {
  readonly label: string;
  readonly change: WaitlistChange;
  readonly done: string;
  /** What it takes from whom; null for an act that takes nothing, which happens at once. */
  readonly question: { readonly title: string; readonly text: string } | null;
}

/** Whether people can join, and where they see the waitlist. Acts by itself, beside the form that is saved. */
export function OpenOrClosed({ waitlist }: { waitlist: Waitlist }) {
  const [asked, setAsked] = useState<Act | null>(null);
  const send = useWaitlistChange(waitlist.id);
  const acts = [closing(waitlist), hiding(waitlist)];
  return (
    <Section title={stateTitle(waitlist)} description={stateText(waitlist)}>
      <Stack gap="sm">
        {send.isError && asked === null && (
          <ProblemAlert error={send.error} onRetry={() => send.mutate(send.variables)} />
        )}
        <Group gap="xs">
          {acts.map((one) => (
            <Button
              key={one.label}
              variant="default"
              loading={send.isPending && send.variables.done === one.done}
              onClick={() => (one.question ? setAsked(one) : send.mutate(one))}
            >
              {one.label}
            </Button>
          ))}
        </Group>
      </Stack>
      <ConfirmDialog
        isOpen={asked !== null}
        title={asked?.question?.title}
        act={asked?.label ?? ''}
        color="indigo"
        onConfirm={() => (asked ? send.mutateAsync(asked) : Promise.resolve())}
        onClose={() => setAsked(null)}
      >
        <Text size="sm">{asked?.question?.text}</Text>
      </ConfirmDialog>
    </Section>
  );
}

function closing({ is_closed: isClosed }: Waitlist): Act {
  return isClosed
    ? { label: 'Open it again', change: { is_closed: false }, done: 'The waitlist is open.', question: null }
    : {
        label: 'Close the waitlist',
        change: { is_closed: true },
        done: 'The waitlist is closed.',
        question: {
          title: 'Close the waitlist?',
          text: 'Nobody new can join, on your own pages neither. Those who joined keep their place and still find it. You can open the waitlist again at any time.',
        },
      };
}

function hiding({ is_public: isPublic }: Waitlist): Act {
  return isPublic
    ? {
        label: 'Make it private',
        change: { is_public: false },
        done: 'The waitlist is private.',
        question: {
          title: 'Make the waitlist private?',
          text: 'Its signup page, widget and leaderboard disappear, and referral links to the page lead to nothing. Apps that know its id can still sign people up, and private pages of people stay. You can make it public again at any time.',
        },
      }
    : { label: 'Make it public again', change: { is_public: true }, done: 'The waitlist is public.', question: null };
}
