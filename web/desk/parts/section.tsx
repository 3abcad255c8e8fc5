import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A framed part of a page with a heading. `action` is a button next to the heading. */
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
        <Title order={2} size="h4" id={headingId} style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {action}
      </Group>
      {description && (
        <Text size="sm" c="dimmed" mb="md" maw="var(--width-form)">
          {description}
        </Text>
      )}
      {children}
    </Paper>
  );
}

/** A part of a form or of a panel, without a frame. */
export function PlainSection({
  title,
  description,
  isDense = false,
  children,
}: {
  title: string;
  description?: ReactNode;
  isDense?: boolean;
  children: ReactNode;
}) {
  const headingId = useId();
  return (
    <Stack component="section" aria-labelledby={headingId} gap={isDense ? 'xs' : 'md'} maw="var(--width-form)">
      <div>
        <Title order={2} size={isDense ? 'h5' : 'h4'} id={headingId}>
          {title}
        </Title>
        {description && (
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        )}
      </div>
      {children}
    </Stack>
  );
}
