import { Code, DataList, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CopyButton } from '../parts/copy-button';
import { count, countPlaces, position } from '../parts/format';
import { RelativeTime } from '../parts/relative-time';
import { PlainSection } from '../parts/section';
import { waitlistQuery } from '../queries';
import { nameOf, type Person, type WholePerson } from './people.queries';

/** The position, and what made it. */
export function Place({ person }: { person: WholePerson }) {
  const waitlist = useQuery(waitlistQuery(person.waitlist_id));
  const { amount_referred: referrals, spots_advanced: granted, removed_date } = person;
  const worth = waitlist.data?.spots_to_move_upon_referral;
  return (
    <Stack gap={4}>
      <Text size="xl" fw={600} component="p">
        {removed_date ? (
          <>
            Let in <RelativeTime time={removed_date} />, as number {position(person.priority)}
          </>
        ) : person.status === 'pending' ? (
          'Pending'
        ) : (
          <>Number {position(person.priority)}</>
        )}
      </Text>
      {person.status === 'pending' && (
        <Text size="sm" c="dimmed">
          Joins the end of the queue once the address is confirmed.
        </Text>
      )}
      {person.status === 'waiting' && (
        <Text size="sm" c="dimmed">
          {person.priority === 0
            ? 'Nobody is ahead.'
            : person.priority === 1
              ? '1 person is ahead.'
              : `${count(person.priority)} people are ahead.`}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {person.join_order !== null && `Joined as number ${position(person.join_order)}`}
        {worth !== undefined &&
          referrals > 0 &&
          ` · ${count(referrals)} ${referrals === 1 ? 'referral' : 'referrals'} × ${countPlaces(worth)} = ${countPlaces(referrals * worth)} forward`}
        {granted > 0 && ` · ${countPlaces(granted)} granted`}
      </Text>
    </Stack>
  );
}

export function Contact({ person }: { person: WholePerson }) {
  const { email, registered_email, phone, verified, created_at, referral_token, referral_link } = person;
  return (
    <PlainSection isDense title="Contact">
      <DataList gap={6}>
        <Item label="Name">{nameOf(person)}</Item>
        <Item label="Email">{email}</Item>
        {email !== null && <Item label="Verified">{verified ? 'Yes' : 'No'}</Item>}
        {registered_email !== email && <Item label="Email at signup">{registered_email}</Item>}
        <Item label="Phone">{phone}</Item>
        <Item label="Joined">
          <RelativeTime time={created_at} />
        </Item>
        <Item label="Token">
          <Code>{referral_token}</Code>
        </Item>
      </DataList>
      <Group gap="xs">
        <CopyButton size="compact-sm" text={referral_token}>
          Copy token
        </CopyButton>
        <CopyButton size="compact-sm" text={referral_link}>
          Copy referral link
        </CopyButton>
      </Group>
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
