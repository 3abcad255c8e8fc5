import { Button, Group, Paper, Stack, Text, VisuallyHidden } from '@mantine/core';
import { type FormRulesRecord, useForm, type UseFormReturnType } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { showFaults } from '../parts/field-faults';
import { ProblemAlert } from '../parts/problem-alert';
import { UnsavedChanges } from '../parts/unsaved-changes';
import { Problem } from '../problem';
import { type Waitlist, waitlistQuery } from '../queries';
import { useMay } from '../roles';
import classes from './settings.module.css';

export type SettingChanges = components['schemas']['UpdateWaitlist'];
type UpdatedWaitlist = components['schemas']['UpdatedWaitlist'];

/** Problems of a whole request that are shown beside one field. */
const FAULTS: Readonly<Record<string, { readonly name: string; readonly text: string }>> = {
  SLUG_TAKEN: { name: 'slug', text: 'Another waitlist has this name, or had it. Choose another one.' },
  TOO_MANY_SLUGS: { name: 'slug', text: 'This page has had 20 names, and cannot have more. Choose one of them.' },
};

const SAVED_SHOWN_MS = 5_000;

interface SettingsForm<Values> {
  readonly form: UseFormReturnType<Values>;
  /** The values that the service has, as far as this page knows. */
  readonly saved: Values;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  /** The answer to the latest save, for a moment. */
  readonly justSaved: UpdatedWaitlist | null;
  /** Of the latest save; null if each of its faults stands beside a field. */
  readonly error: unknown;
  readonly hasFaults: boolean;
  /** How many saves ended with errors beside fields. */
  readonly refusals: number;
  readonly save: () => void;
  readonly discard: () => void;
}

/**
 * The form of one tab. `valuesOf` reads its values from a waitlist, under the names of the API. A save sends only the
 * fields that were changed here, so it leaves alone what another tab or another person saved meanwhile.
 */
export function useSettingsForm<Values extends Record<string, unknown>>(
  waitlist: Waitlist,
  valuesOf: (waitlist: Waitlist) => Values,
  changesOf: (changed: Partial<Values>, before: Values) => SettingChanges | Promise<SettingChanges>,
  /** Validation at the desk, before a save. */
  rules?: FormRulesRecord<Values>,
): SettingsForm<Values> {
  const queries = useQueryClient();
  const [saved, setSaved] = useState(() => valuesOf(waitlist));
  const form = useForm<Values>({ initialValues: saved, ...(rules && { validate: rules }) });
  const [error, setError] = useState<unknown>(null);
  const [refusals, setRefusals] = useState(0);
  const [justSaved, setJustSaved] = useState<UpdatedWaitlist | null>(null);
  const changed = changedOf(form.values, saved);
  const isDirty = Object.keys(changed).length > 0;

  /** Takes over what the service has, except what was changed here since `before`. */
  const takeOver = (current: Waitlist, before: Values) => {
    const values = valuesOf(current);
    setSaved(values);
    form.setValues(withChanges(values, form.getValues(), before) as Values);
  };

  const send = useMutation({
    mutationFn: async (values: Values) =>
      bodyOf(
        api.PATCH('/api/v1/waitlist/{waitlist_id}', {
          params: { path: { waitlist_id: waitlist.id } },
          body: await changesOf(changedOf(values, saved), saved),
        }),
      ),
    onMutate: () => {
      setError(null);
      setJustSaved(null);
    },
    onSuccess: (updated, values) => {
      takeOver(updated, values);
      setJustSaved(updated);
      queries.setQueryData(waitlistQuery(waitlist.id).queryKey, updated);
      void queries.invalidateQueries({ queryKey: ['waitlists'] });
    },
    onError: (failure) => {
      const field = failure instanceof Problem ? FAULTS[failure.code] : undefined;
      if (field) form.setFieldError(field.name, field.text);
      setError(field ? null : showFaults(failure, form));
      setRefusals((count) => count + 1);
    },
  });

  useEffect(() => {
    if (justSaved === null) return;
    const timer = setTimeout(() => setJustSaved(null), SAVED_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [justSaved]);

  // Another tab or another person has saved.
  const onOtherSave = useEffectEvent((current: Waitlist) => {
    if (!isDirty && !send.isPending) takeOver(current, form.getValues());
  });
  useEffect(() => onOtherSave(waitlist), [waitlist]);

  return {
    form,
    saved,
    isDirty,
    isSaving: send.isPending,
    justSaved,
    error,
    hasFaults: Object.keys(form.errors).length > 0,
    refusals,
    save: () => {
      if (form.validate().hasErrors) setRefusals((count) => count + 1);
      else send.mutate(form.getValues());
    },
    discard: () => {
      form.setValues(saved);
      form.clearErrors();
      setError(null);
    },
  };
}

function changedOf<Values extends Record<string, unknown>>(values: Values, before: Values): Partial<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  ) as Partial<Values>;
}

/** `current` with what differs between `values` and `before`, down to the parts of objects. A list is one value. */
export function withChanges(current: unknown, values: unknown, before: unknown): unknown {
  if (isObject(current) && isObject(values) && isObject(before))
    return Object.fromEntries(
      Object.entries(current).map(([name, value]) => [name, withChanges(value, values[name], before[name])]),
    );
  return JSON.stringify(values) === JSON.stringify(before) ? current : values;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a tab, and the bar that saves them. */
export function SettingsTab<Values>({
  settings,
  savedText = () => 'Saved.',
  action,
  children,
}: {
  settings: SettingsForm<Values>;
  savedText?: (updated: UpdatedWaitlist) => string;
  /** A button that stays in reach, with those of the bar. */
  action?: ReactNode;
  children: ReactNode;
}) {
  const { isDirty, isSaving, justSaved, error, hasFaults, refusals } = settings;
  const element = useRef<HTMLFormElement>(null);
  const mayChange = useMay('editor');
  useEffect(() => {
    if (refusals === 0) return;
    const fault = element.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-fault]');
    fault?.focus();
    // At the edge of the screen, the bar would cover it.
    fault?.scrollIntoView({ block: 'center' });
  }, [refusals]);
  const unsaved = isDirty ? 'You have changes that are not saved yet.' : '';
  const status = hasFaults
    ? 'Not saved yet: some fields need your attention.'
    : justSaved && !isDirty
      ? savedText(justSaved)
      : unsaved;
  return (
    <form
      ref={element}
      className={classes.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isDirty && !isSaving) settings.save();
      }}
    >
      <Stack gap="xl">
        {!mayChange && (
          <Text size="sm" c="dimmed">
            You can see these settings. Editors and owners can change them.
          </Text>
        )}
        <fieldset className={classes.fields} disabled={!mayChange}>
          {children}
        </fieldset>
        <div className={classes.bar}>
          <VisuallyHidden role="status">{status}</VisuallyHidden>
          {status === '' ? (
            action && <Group justify="flex-end">{action}</Group>
          ) : (
            <Paper component={Stack} withBorder shadow="md" p="sm" gap="sm">
              {error !== null && <ProblemAlert error={error} onRetry={settings.save} />}
              <Group justify="space-between" gap="xs">
                <Text size="sm" aria-hidden>
                  {status}
                </Text>
                <Group gap="xs">
                  {action}
                  {isDirty && (
                    <>
                      <Button variant="default" onClick={settings.discard} disabled={isSaving}>
                        Discard
                      </Button>
                      <Button type="submit" loading={isSaving}>
                        Save
                      </Button>
                    </>
                  )}
                </Group>
              </Group>
            </Paper>
          )}
        </div>
      </Stack>
      <UnsavedChanges isDirty={isDirty} />
    </form>
  );
}
