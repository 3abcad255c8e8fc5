import { TextInput, type TextInputProps } from '@mantine/core';
import { readAddress } from './addresses';

/** The part of a form of `@mantine/form` that the field needs. `path` is its name in the form. */
interface AddressForm {
  readonly getInputProps: (path: string) => { readonly value?: string; readonly defaultValue?: string };
  readonly setFieldValue: (path: string, value: string) => void;
  readonly setFieldError: (path: string, fault: string) => void;
}

/** A field for a URL. On blur, it adds a missing https://, and shows an error for what is no URL. */
export function AddressInput({
  form,
  path,
  isHttpsOnly,
  ...props
}: Omit<TextInputProps, 'form'> & { form: AddressForm; path: string; isHttpsOnly?: boolean }) {
  const bring = (typed: string) => {
    const { address, fault } = readAddress(typed, { isHttpsOnly });
    if (fault !== null) form.setFieldError(path, fault);
    else if (address !== typed) form.setFieldValue(path, address);
  };
  return (
    <TextInput
      type="url"
      inputMode="url"
      {...props}
      {...form.getInputProps(path)}
      onBlur={({ currentTarget }) => bring(currentTarget.value)}
      // Enter sends the form without leaving the field.
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && bring(currentTarget.value)}
    />
  );
}
