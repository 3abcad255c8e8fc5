import { Autocomplete } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { normalizeOnBlur } from '../parts/normalize-on-blur';
import { SHORT_INPUT } from '../theme';
import type { AppearanceValues } from './appearance-values';
import { CATALOGS, describeLanguage, readLanguage } from './language';

const LABELS = new Map(CATALOGS.map(({ tag, label }) => [tag, label]));

/** The tag of a language: one of those that have our texts, found by name or tag, or any other. */
export function LanguageField({ form }: { form: UseFormReturnType<AppearanceValues> }) {
  const { lang } = form.values;
  return (
    <Autocomplete
      label="Language"
      description={`Of the page, the widget and the mails. ${describeLanguage(lang)}`}
      data={CATALOGS.map(({ tag }) => tag)}
      // A tag that is chosen already hides no other.
      filter={({ options, search }) => (LABELS.has(search) ? options : matching(search))}
      renderOption={({ option: { value } }) => LABELS.get(value)}
      autoCapitalize="none"
      spellCheck={false}
      // Within the page's landmark; the list itself scrolls.
      comboboxProps={{ withinPortal: false }}
      withScrollArea={false}
      styles={{ ...SHORT_INPUT, options: { maxHeight: 240, overflowY: 'auto' } }}
      {...form.getInputProps('lang')}
      {...normalizeOnBlur(form, 'lang', readLanguage)}
    />
  );
}

function matching(search: string): { value: string; label: string }[] {
  const typed = search.trim().toLowerCase();
  return CATALOGS.filter(({ words }) => words.some((word) => word.startsWith(typed))).map(({ tag }) => ({
    value: tag,
    label: tag,
  }));
}
