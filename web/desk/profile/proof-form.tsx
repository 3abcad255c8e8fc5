import { PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';

/** An alias, because an interface is not assignable to the `Record` that `showFaults` takes. */
export type Proof = { current_password: string; otp: string };

/** Asks for what proves that it is the member: the password, a code, or both. */
export function ProofForm({
  text,
  act,
  color,
  fields,
  codeHint = 'The six digits that your app shows now, or one of your recovery codes.',
  children,
  onSend,
  onCancel,
}: {
  text?: string;
  act: string;
  color?: string;
  fields: readonly (keyof Proof)[];
  codeHint?: string;
  /** Before the fields. */
  children?: ReactNode;
  onSend: (proof: Proof) => Promise<unknown>;
  onCancel: () => void;
}) {
  const form = useForm<Proof>({ initialValues: { current_password: '', otp: '' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const send = useMutation({
    mutationFn: ({ otp, ...values }: Proof) => onSend({ ...values, otp: otp.trim() }),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
  });
  return (
    <form onSubmit={form.onSubmit((values) => send.mutate(values))}>
      <Stack>
        {text && <Text size="sm">{text}</Text>}
        {children}
        {fields.includes('current_password') && (
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            data-autofocus
            {...form.getInputProps('current_password')}
          />
        )}
        {fields.includes('otp') && (
          <TextInput
            label="Code"
            description={codeHint}
            autoComplete="one-time-code"
            autoCapitalize="off"
            spellCheck={false}
            required
            data-autofocus={fields.length === 1 || undefined}
            {...form.getInputProps('otp')}
          />
        )}
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <FormButtons act={act} {...(color !== undefined && { color })} isSending={send.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
