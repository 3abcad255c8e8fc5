import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { stateText, stateTitle, useWaitlistChange, type WaitlistChange } from '../parts/waitlist-state';
import type { Waitlist } from '../queries';

interface Act {
  readonly name: 'closing' | 'hiding';
  readonly label: string;
  readonly change: WaitlistChange;
  readonly done: string;
  /** Asked before the action; null if it takes nothing away, and happens at once. */
  readonly question: { readonly title: string; readonly text: string } | null;
}

/** Opens and closes the waitlist, and makes it public or private, at once: not part of the form that is saved. */
export function OpenOrClosed({ waitlist }: { waitlist: Waitlist }) {
  const [isAsking, setIsAsking] = useState(false);
  // Stays while the dialog fades.
  const [asked, setAsked] = useState<Act | null>(null);
  const send = useWaitlistChange(waitlist.id);
  const acts = [closing(waitlist), hiding(waitlist)];
  const ask = (act: Act) => {
    setAsked(act);
    setIsAsking(true);
  };
  return (
    <Section title={stateTitle(waitlist)} description={stateText(waitlist)}>
      <Stack gap="sm">
        {send.isError && !isAsking && <ProblemAlert error={send.error} onRetry={() => send.mutate(send.variables)} />}
        <Group gap="xs">
          {acts.map((one) => (
            <Button
              key={one.name}
              variant="default"
              loading={send.isPending && send.variables.done === one.done}
              onClick={() => (one.question ? ask(one) : send.mutate(one))}
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

function closing({ is_closed: isClosed }: Waitlist): Act {
  return isClosed
    ? {
        name: 'closing',
        label: 'Open it again',
        change: { is_closed: false },
        done: 'The waitlist is open.',
        question: null,
      }
    : {
        name: 'closing',
        label: 'Close the waitlist',
        change: { is_closed: true },
        done: 'The waitlist is closed.',
        question: {
          title: 'Close the waitlist?',
          text: 'Nobody new can join, not even on your own pages. Those who joined keep their place and still find it. You can open the waitlist again at any time.',
        },
      };
}

function hiding({ is_public: isPublic }: Waitlist): Act {
  return isPublic
    ? {
        name: 'hiding',
        label: 'Make it private',
        change: { is_public: false },
        done: 'The waitlist is private.',
        question: {
          title: 'Make the waitlist private?',
          text: 'Its signup page, widget and leaderboard disappear, and referral links to the page lead to nothing. Apps that know its id can still sign people up, and private pages of people stay. You can make it public again at any time.',
        },
      }
    : {
        name: 'hiding',
        label: 'Make it public again',
        change: { is_public: true },
        done: 'The waitlist is public.',
        question: null,
      };
}
