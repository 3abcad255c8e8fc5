import { Group, Paper, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A part of a page under a heading of its own. `action` is its button. */
export function Section({
  id,
  title,
  description,
  action,
  children,
}: {
  /** For a link to the part. */
  id?: string;
  title: string;
  description?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  const headingId = useId();
  return (
    <Paper component="section" withBorder p="md" id={id} aria-labelledby={headingId}>
      <Group justify="space-between" mb={description ? 4 : 'sm'}>
        <Title order={2} size="h4" id={headingId}>
          {title}
        </Title>
        {action}
      </Group>
      {description && (
        <Text size="sm" c="dimmed" mb="md" maw="70ch">
          {description}
        </Text>
      )}
      {children}
    </Paper>
  );
}
