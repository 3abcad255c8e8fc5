import { Stack, Text, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

/** Fields of a tab that belong together. */
export function Section({ title, hint, children }: { title: string; hint?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <Stack component="section" aria-labelledby={id} gap="md" maw={640}>
      <div>
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {hint && (
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
        )}
      </div>
      {children}
    </Stack>
  );
}
