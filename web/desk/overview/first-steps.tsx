import { Anchor, Group, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { CheckIcon } from '@radix-ui/react-icons';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Section } from '../parts/section';
import type { Waitlist } from '../queries';
import classes from './overview.module.css';

/** The name that the first start gives. */
const FIRST_NAME = 'My waitlist';
/** From this many people on, a waitlist is in use. */
const IN_USE_FROM = 10;

/** What is left to do before a new waitlist is in use. */
export function FirstSteps({ waitlist }: { waitlist: Waitlist }) {
  const { id, waitlist_name, waitlist_url_location, statistics } = waitlist;
  const { total_signups: people } = statistics;
  const steps: readonly [done: boolean, ReactNode][] = [
    [waitlist_name !== FIRST_NAME, link(`/${id}/settings`, 'Name your waitlist')],
    [people > 1, <Anchor href="#your-page">Share the address, or paste the widget into your page</Anchor>],
    [people > 0, outside(waitlist_url_location, 'Join once yourself')],
    [
      statistics.offboarded_signups + statistics.offered_signups > 0,
      link(`/${id}/people`, 'Let somebody in, or offer a seat'),
    ],
  ];
  if (people >= IN_USE_FROM || steps.every(([isDone]) => isDone)) return null;
  return (
    <Section title="First steps">
      <ol className={classes.list}>
        {steps.map(([isDone, step], index) => (
          <li key={index}>
            <Group gap="sm" wrap="nowrap">
              <ThemeIcon size={24} radius="xl" variant={isDone ? 'filled' : 'default'}>
                {isDone ? <CheckIcon aria-hidden /> : <Text size="sm">{index + 1}</Text>}
              </ThemeIcon>
              <Text size="sm" component="span" c={isDone ? 'dimmed' : undefined}>
                {step}
                {isDone && <VisuallyHidden> (done)</VisuallyHidden>}
              </Text>
            </Group>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function link(to: string, label: string) {
  return (
    <Anchor component={Link} to={to}>
      {label}
    </Anchor>
  );
}

function outside(href: string, label: string) {
  return (
    <Anchor href={href} target="_blank" rel="noopener">
      {label}
    </Anchor>
  );
}
