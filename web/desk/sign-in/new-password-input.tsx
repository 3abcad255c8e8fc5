import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** For a password that is chosen now. */
export function NewPasswordInput(props: PasswordInputProps) {
  return (
    <PasswordInput
      description="At least 15 characters that nobody can guess. A password manager makes one."
      autoComplete="new-password"
      required
      {...props}
    />
  );
}
