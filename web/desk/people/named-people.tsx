import { Group, List, ScrollArea, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { countPeople } from '../parts/format';
import { contactOf, type Person } from './people.queries';

/** The most people that are drawn. */
const LISTED_MAX = 1_000;
/** The library's own items are as wide as their text. */
const FULL_WIDTH = { itemWrapper: { display: 'block' }, itemLabel: { display: 'block' } } as const;

/** Lists people in a box that scrolls. `rest` says where to find those that it leaves out. */
export function NamedPeople<P extends Person>({
  people,
  label,
  rest,
  noteOf,
  children,
}: {
  people: readonly P[];
  label: string;
  rest?: string;
  noteOf: (person: P) => ReactNode;
  /** Shown at the end of each row. */
  children?: (person: P) => ReactNode;
}) {
  return (
    <ScrollArea.Autosize mah={280} type="auto" viewportProps={{ tabIndex: 0, 'aria-label': label, role: 'region' }}>
      <List size="sm" spacing={4} listStyleType="none" styles={FULL_WIDTH}>
        {people.slice(0, LISTED_MAX).map((person) => (
          <List.Item key={person.uuid}>
            <Group justify="space-between" gap={4}>
              <span style={{ overflowWrap: 'anywhere' }}>
                <bdi>{contactOf(person)}</bdi>{' '}
                <Text span inherit c="dimmed">
                  {noteOf(person)}
                </Text>
              </span>
              {children?.(person)}
            </Group>
          </List.Item>
        ))}
      </List>
      {people.length > LISTED_MAX && (
        <Text size="sm" c="dimmed" mt={4}>
          and {countPeople(people.length - LISTED_MAX)} more{rest}
        </Text>
      )}
    </ScrollArea.Autosize>
  );
}
