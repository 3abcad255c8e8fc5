import { wordsOf } from '../fault-words';
import { Problem } from '../problem';

/**
 * Shows a refusal's faults beside their fields. Returns the error if a fault belongs to no field of the form, else
 * null. `form` is one of `@mantine/form`, whose fields have the names of the API.
 */
export function showFaults(
  error: unknown,
  form: { setErrors: (errors: Record<string, string>) => void; getValues: () => Record<string, unknown> },
): unknown {
  if (!(error instanceof Problem) || error.faults.length === 0) return error;
  const fields = Object.keys(form.getValues());
  const known = error.faults.filter(({ field }) => fields.includes(field.replace(/[.[].*/, '')));
  form.setErrors(
    Object.fromEntries(known.map((fault) => [fault.field.replaceAll(/\[(\d+)\]/g, '.$1'), wordsOf(fault)])),
  );
  return known.length === error.faults.length ? null : error;
}
