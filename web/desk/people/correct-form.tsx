import { Checkbox, JsonInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { PERSON } from '../bounds';
import { sendsMail } from '../environment';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { UnsavedChanges } from '../parts/unsaved-changes';
import { Problem } from '../problem';
import { type Changes, refreshPeople, updatePerson, type WholePerson } from './people.queries';
import { TakenBy } from './taken-by';

/** A type, because `showFaults` takes any record. */
type Values = {
  readonly email: string;
  readonly phone: string;
  readonly first_name: string;
  readonly last_name: string;
  /** JSON, or nothing. */
  readonly metadata: string;
  readonly verified: boolean;
};

/** Corrects what a person gave. Sends only what changed. */
export function CorrectForm({
  person,
  onSaved,
  onCancel,
}: {
  person: WholePerson;
  onSaved: () => void;
  onCancel: () => void;
}) {
  const queries = useQueryClient();
  const form = useForm<Values>({
    initialValues: {
      email: person.email ?? '',
      phone: person.phone ?? '',
      first_name: person.first_name,
      last_name: person.last_name,
      metadata: person.metadata ? JSON.stringify(person.metadata, null, 2) : '',
      verified: person.verified,
    },
    validate: { metadata: (text) => (isObject(text) ? null : 'Must be a JSON object.') },
  });
  const [refusal, setRefusal] = useState<unknown>(null);
  const save = useMutation({
    // The values replace what was there, so a repeat is harmless.
    mutationFn: async () => updatePerson(person.uuid, changesOf(form), nanoid()),
    onMutate: () => setRefusal(null),
    onSuccess: async () => {
      await refreshPeople(queries, person.waitlist_id);
      onSaved();
    },
    onError: (error) => {
      setRefusal(showFaults(error, form));
      if (!(error instanceof Problem) || error.code !== 'CONTACT_TAKEN') return;
      for (const { field } of error.faults)
        if (field === 'email' || field === 'phone')
          form.setFieldError(
            field,
            <TakenBy waitlistId={person.waitlist_id} contact={{ [field]: form.getValues()[field].trim() }} />,
          );
    },
  });
  return (
    <form onSubmit={form.onSubmit(() => save.mutate())} noValidate>
      <UnsavedChanges isDirty={form.isDirty()} />
      <Stack>
        <TextInput
          label="Email"
          type="email"
          autoFocus
          maxLength={PERSON.email.maxLength}
          {...form.getInputProps('email')}
        />
        <Checkbox
          label="Email confirmed"
          description={
            person.status === 'pending'
              ? 'Confirms the email for them: they join the end of the line.'
              : person.credit === 'awaiting_verification'
                ? 'Confirms the email for them: the referral counts.'
                : 'The email is theirs.'
          }
          {...form.getInputProps('verified', { type: 'checkbox' })}
        />
        <TextInput label="Phone" type="tel" maxLength={PERSON.phone.maxLength} {...form.getInputProps('phone')} />
        <TextInput label="First name" maxLength={PERSON.first_name.maxLength} {...form.getInputProps('first_name')} />
        <TextInput label="Last name" maxLength={PERSON.last_name.maxLength} {...form.getInputProps('last_name')} />
        <JsonInput
          label="Metadata"
          description="A JSON object, or empty."
          autosize
          minRows={3}
          maxRows={12}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...form.getInputProps('metadata')}
        />
        {person.status !== 'pending' && (
          <Text size="sm" c="dimmed">
            {person.status === 'waiting' && 'They keep their place in line. '}
            The email given at signup stays on record.
            {person.status === 'offered' &&
              ` If the email changes, the link of their offer ends. ${sendsMail && form.values.email.trim() !== '' ? 'A new one goes to the new email.' : 'Make a new one for them then.'}`}
          </Text>
        )}
        {refusal !== null && <ProblemAlert error={refusal} />}
        <FormButtons act="Save" canAct={form.isDirty()} isSending={save.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

/** The fields that differ from what they were; an emptied one is removed. */
function changesOf(form: UseFormReturnType<Values>): Changes {
  const { metadata, verified, ...texts } = form.getValues();
  return {
    ...Object.fromEntries(
      Object.entries(texts).flatMap(([field, text]) => (form.isDirty(field) ? [[field, text.trim() || null]] : [])),
    ),
    ...(form.isDirty('metadata') && {
      metadata: metadata.trim() === '' ? null : (JSON.parse(metadata) as Record<string, unknown>),
    }),
    ...(form.isDirty('verified') && { verified }),
  };
}

function isObject(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
