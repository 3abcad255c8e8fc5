import { Problem } from '../problem';

/** The service writes a fault to follow a field's name: "must be a url". */
export function sentenceOfFault(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`;
}

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
    Object.fromEntries(
      known.map(({ field, message }) => [field.replaceAll(/\[(\d+)\]/g, '.$1'), sentenceOfFault(message)]),
    ),
  );
  return known.length === error.faults.length ? null : error;
}
