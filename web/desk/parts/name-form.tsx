import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { showFaults } from './field-faults';
import { ProblemAlert } from './problem-alert';

/** A form of a single name, which may be empty. `onSave` gets null then. */
export function NameForm({
  label,
  description,
  name,
  autoComplete = 'off',
  onSave,
}: {
  label: string;
  description: string;
  name: string | null;
  autoComplete?: string;
  onSave: (name: string | null) => Promise<unknown>;
}) {
  const form = useForm({ initialValues: { name: name ?? '' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const save = useMutation({
    mutationFn: (values: typeof form.values) => onSave(values.name.trim() || null),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
    onSuccess: (_, values) => {
      form.resetDirty(values);
      notifications.show({ message: 'Saved' });
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack maw="var(--width-field)">
        <TextInput
          label={label}
          description={description}
          autoComplete={autoComplete}
          {...form.getInputProps('name')}
        />
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <Group>
          <Button type="submit" variant="default" loading={save.isPending} disabled={!form.isDirty()}>
            Save name
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
