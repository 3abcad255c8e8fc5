import { Button, Code, DataList, Group, List, Stack, Text } from '@mantine/core';
import { ExternalLinkIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { privatePage } from '../environment';
import { CopyButton } from '../parts/copy-button';
import { count, countPlaces, countReferrals, position } from '../parts/format';
import { RelativeTime } from '../parts/relative-time';
import { PlainSection } from '../parts/section';
import { waitlistQuery } from '../queries';
import { nameOf, type Person, type WholePerson } from './people.queries';
import { leavingOf, STATUS_LABELS } from './status';
import { OfferEnd } from './offer-end';

/** The position, and what made it. */
export function Place({ person }: { person: WholePerson }) {
  const { priority, removed_date: removedAt, status } = person;
  return (
    <Stack gap={4}>
      <Text size="xl" fw={600} component="p">
        {removedAt ? (
          <>
            {leavingOf(person)} <RelativeTime time={removedAt} />, as number {position(priority)}
          </>
        ) : status === 'offered' ? (
          <>Offered a seat, as number {position(priority)}</>
        ) : status === 'pending' ? (
          STATUS_LABELS.pending
        ) : (
          <>Number {position(priority)}</>
        )}
      </Text>
      {status === 'pending' && (
        <Text size="sm" c="dimmed">
          Joins the end of the line once the email is confirmed.
        </Text>
      )}
      {status === 'offered' && (
        <Text size="sm" c="dimmed">
          <OfferEnd person={person} />
        </Text>
      )}
      {person.removed_reason === 'declined' && (
        <Text size="sm" c="dimmed">
          They declined the offer, and were not let in.
        </Text>
      )}
      {person.removed_reason === 'expired' && (
        <Text size="sm" c="dimmed">
          They did not answer the offer in time, and were not let in.
        </Text>
      )}
      {person.removed_reason === 'accepted' && (
        <Text size="sm" c="dimmed">
          They were let in by an offer.
        </Text>
      )}
      {status === 'waiting' && (
        <Text size="sm" c="dimmed">
          {priority === 0
            ? 'Nobody is ahead.'
            : priority === 1
              ? '1 person is ahead.'
              : `${count(priority)} people are ahead.`}
        </Text>
      )}
      <Reasons person={person} />
    </Stack>
  );
}

/** The reasons for the position. They rarely add up to it, because changes of other people move it too. */
function Reasons({ person }: { person: WholePerson }) {
  const waitlist = useQuery(waitlistQuery(person.waitlist_id));
  const { amount_referred: referrals, spots_advanced: granted, join_order: joined, priority, status } = person;
  const worth = waitlist.data?.spots_to_move_upon_referral;
  const earned = worth === undefined ? 0 : referrals * worth;
  const isMovedByOthers = joined !== null && Math.max(0, joined - earned - granted) !== priority;
  const facts = [
    joined !== null && `Entered the line as number ${position(joined)}`,
    worth !== undefined &&
      referrals > 0 &&
      `${countReferrals(referrals)} × ${countPlaces(worth)}: ${countPlaces(earned)} forward`,
    granted > 0 && `You granted ${countPlaces(granted)}`,
    status === 'waiting' && isMovedByOthers && 'Others moved too: some were let in or left, some overtook by referrals',
  ].filter(Boolean);
  if (facts.length === 0) return null;
  return (
    <List size="sm" c="dimmed" spacing={2} aria-label="What made the position">
      {facts.map((fact) => (
        <List.Item key={String(fact)}>{fact}</List.Item>
      ))}
    </List>
  );
}

export function Contact({ person }: { person: WholePerson }) {
  const { email, registered_email, phone, verified, created_at } = person;
  return (
    <PlainSection isDense title="Contact">
      <DataList gap={6}>
        <Item label="Name">{nameOf(person)}</Item>
        <Item label="Email">{email}</Item>
        {email !== null && <Item label="Email confirmed">{verified ? 'Yes' : 'No'}</Item>}
        {registered_email !== email && <Item label="Email at signup">{registered_email}</Item>}
        <Item label="Phone">{phone}</Item>
        <Item label="Joined">
          <RelativeTime time={created_at} />
        </Item>
      </DataList>
    </PlainSection>
  );
}

/** The person's private page, referral link and referral code. */
export function Links({ person }: { person: WholePerson }) {
  const { waitlist_id: waitlistId, uuid, referral_token, referral_link } = person;
  const page = privatePage(waitlistId, uuid);
  return (
    <PlainSection isDense title="Their page and link">
      <Text size="sm" c="dimmed">
        The private page shows their place. Send its address to nobody but them.
      </Text>
      <Group gap="xs">
        <Button
          component="a"
          href={page}
          target="_blank"
          rel="noopener"
          size="compact-sm"
          variant="default"
          rightSection={<ExternalLinkIcon aria-hidden />}
        >
          Open their page
        </Button>
        <CopyButton size="compact-sm" text={page}>
          Copy address of their page
        </CopyButton>
        <CopyButton size="compact-sm" text={referral_link}>
          Copy referral link
        </CopyButton>
        <CopyButton size="compact-sm" text={referral_token}>
          Copy referral code
        </CopyButton>
      </Group>
      <Text size="sm" c="dimmed">
        Referral code: <Code>{referral_token}</Code>
      </Text>
    </PlainSection>
  );
}

export function Answers({ person: { answers } }: { person: WholePerson }) {
  if (answers.length === 0) return null;
  return (
    <PlainSection isDense title="Answers">
      <DataList orientation="vertical" gap="xs">
        {answers.map(({ id, question_value, answer_value, soft_deleted }) => (
          <Item key={id} label={soft_deleted ? `${question_value} (removed question)` : question_value}>
            {[answer_value ?? ''].flat().join(', ')}
          </Item>
        ))}
      </DataList>
    </PlainSection>
  );
}

export function Metadata({ metadata }: { metadata: Person['metadata'] }) {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return null;
  return (
    <PlainSection isDense title="Metadata">
      <DataList gap={6}>
        {entries.map(([key, value]) => (
          <Item key={key} label={key}>
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </Item>
        ))}
      </DataList>
    </PlainSection>
  );
}

/** A text that somebody typed keeps its own direction, and breaks where it must. */
function Item({ label, children }: { label: string; children: ReactNode }) {
  const isEmpty = children === null || children === '';
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {isEmpty ? (
          <Text span inherit c="dimmed">
            Not given
          </Text>
        ) : (
          <bdi>{children}</bdi>
        )}
      </DataList.ItemValue>
    </DataList.Item>
  );
}
