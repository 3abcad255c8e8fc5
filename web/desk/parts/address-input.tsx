import { TextInput, type TextInputProps } from '@mantine/core';
import { readAddress } from './addresses';
import { type FaultForm, normalizeOnBlur } from './normalize-on-blur';

/** The part of a form of `@mantine/form` that the field needs. `path` is its name in the form. */
interface AddressForm extends FaultForm {
  readonly getInputProps: (path: string) => { readonly value?: string; readonly defaultValue?: string };
}

/** A field for a URL. On blur, it adds a missing https://, and shows an error for what is no URL. */
export function AddressInput({
  form,
  path,
  isHttpsOnly,
  ...props
}: Omit<TextInputProps, 'form'> & { form: AddressForm; path: string; isHttpsOnly?: boolean }) {
  return (
    <TextInput
      type="url"
      inputMode="url"
      {...props}
      {...form.getInputProps(path)}
      {...normalizeOnBlur(form, path, (typed) => readAddress(typed, { isHttpsOnly }))}
    />
  );
}
