import { ColorInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { normalizeOnBlur } from '../parts/normalize-on-blur';
import type { ColorName } from './appearance-fields';
import type { AppearanceValues } from './appearance-values';
import { colorOf } from './colors';

const FAULT = 'Enter a color as six hex digits, such as #4937e7.';

/** The error for a text that is no color; null for a color or an empty text. */
export function colorFault(text: string): string | null {
  return text.trim() === '' || colorOf(text) !== null ? null : FAULT;
}

/** On blur, changes a color to `#rrggbb`, the form that pages read. Keeps any other text, with an error. */
export function ColorField({
  form,
  name,
  label,
}: {
  form: UseFormReturnType<AppearanceValues>;
  name: ColorName;
  label: string;
}) {
  const path = `configuration_style_json.${name}` as const;
  const text = form.values.configuration_style_json[name];
  return (
    <ColorInput
      label={label}
      placeholder="Default"
      withEyeDropper={false}
      // Within the page's landmark.
      popoverProps={{ withinPortal: false }}
      withPreview={text !== ''}
      // Below the field, the picker would cover it.
      inputWrapperOrder={['label', 'error', 'input']}
      // Otherwise the library clears text that is no color.
      fixOnBlur={false}
      {...form.getInputProps(path)}
      {...normalizeOnBlur(form, path, (typed) => ({ text: colorOf(typed) ?? '', fault: colorFault(typed) }))}
    />
  );
}
