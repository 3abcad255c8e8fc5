import { Group, Input, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { AddressInput } from '../parts/address-input';
import { WAITLIST } from '../bounds';
import { hostedPage } from '../environment';
import { normalizeOnBlur, type Read } from '../parts/normalize-on-blur';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { OWN_DIRECTION } from '../theme';
import { toPublic } from './appearance-values';
import { countries } from './countries';
import type { PreviewedWaitlist } from './drawn-preview';
import { OpenOrClosed } from './open-or-closed';
import { PreviewBeside, ShownIn } from './preview-beside';
import { QuestionFields, questionsOf, toQuestions, type QuestionValues } from './question-fields';
import { SettingsTab, useSettingsForm, type SettingChanges } from './settings-form';

type RequiredContact = Waitlist['required_contact'];
type Requirement = RequiredContact['email'];

interface FormValues extends Record<string, unknown> {
  waitlist_name: string;
  waitlist_url_location: string;
  /** Empty means null. */
  slug: string;
  required_contact: RequiredContact;
  default_region: string;
  questions: QuestionValues[];
}

const CONTACT: readonly { readonly field: keyof RequiredContact; readonly label: string }[] = [
  { field: 'email', label: 'Email' },
  { field: 'phone', label: 'Phone' },
  { field: 'first_name', label: 'First name' },
  { field: 'last_name', label: 'Last name' },
];
const REQUIREMENTS = [
  { value: 'required', label: 'Required' },
  { value: 'optional', label: 'Optional' },
  { value: 'off', label: 'Off' },
];

/** The service has the same rule. Its message has a pattern. */
const SLUG = /^(?=.*[a-z])[a-z\d-]{3,40}$/;

const RULES = { slug: (typed: string) => readSlug(typed).fault };

/** The slug that was typed, in lower case. Empty text has no fault. */
function readSlug(typed: string): Read {
  const text = typed.trim().toLowerCase();
  if (text === '' || SLUG.test(text)) return { text, fault: null };
  return { text, fault: 'Use 3 to 40 characters: letters a–z, digits and hyphens, with at least one letter.' };
}

/** What the signup form asks for. */
export function FormTab({ waitlist }: { waitlist: Waitlist }) {
  const toChanges = (changed: Partial<FormValues>, before: FormValues) => changesOf(changed, before, waitlist);
  const settings = useSettingsForm(waitlist, valuesOf, toChanges, RULES);
  const { form, saved } = settings;
  const shown = useMemo(() => previewed(waitlist, form.values), [waitlist, form.values]);
  return (
    <PreviewBeside waitlist={shown}>
      {(previewButton) => (
        <Stack gap="xl" miw={0} maw="var(--width-form)">
          <OpenOrClosed waitlist={waitlist} />
          <SettingsTab settings={settings} action={previewButton}>
            <ShownIn state="form">
              <PlainSection title="Waitlist">
                <TextInput
                  label="Name"
                  attributes={OWN_DIRECTION}
                  required
                  maxLength={WAITLIST.waitlist_name.maxLength}
                  {...form.getInputProps('waitlist_name')}
                />
                <TextInput
                  label="Short address"
                  description={`Your page is ${hostedPage({ id: waitlist.id, slug: readSlug(form.values.slug).text || null })}. Earlier addresses keep working.`}
                  placeholder={String(waitlist.id)}
                  maxLength={WAITLIST.slug.maxLength}
                  autoCapitalize="none"
                  spellCheck={false}
                  {...form.getInputProps('slug')}
                  {...normalizeOnBlur(form, 'slug', readSlug)}
                />
                <AddressInput
                  form={form}
                  path="waitlist_url_location"
                  label="Signup page"
                  description="Referral links lead to this address. Without one, they lead to the page of this service."
                  placeholder={hostedPage(waitlist)}
                />
              </PlainSection>
              <PlainSection
                title="Contact data"
                description="People are identified by email or phone, so at least one must stay on."
              >
                <Stack gap="sm">
                  {CONTACT.map(({ field, label }) => (
                    <Group key={field} justify="space-between" gap="xs">
                      <Text size="sm" fw={500}>
                        {label}
                      </Text>
                      <SegmentedControl
                        aria-label={label}
                        data={REQUIREMENTS}
                        {...form.getInputProps(`required_contact.${field}`, { withError: false, withFocus: false })}
                      />
                    </Group>
                  ))}
                  {form.errors.required_contact && (
                    <Input.Error role="alert" tabIndex={-1} data-fault>
                      {form.errors.required_contact}
                    </Input.Error>
                  )}
                </Stack>
                {form.values.required_contact.phone !== 'off' && (
                  <Select
                    label="Country of phone numbers"
                    description="For numbers that people type without a country code."
                    placeholder="None: people type the country code"
                    data={countries()}
                    searchable
                    clearable
                    clearButtonProps={{ 'aria-label': 'Clear the country' }}
                    nothingFoundMessage="No such country"
                    // Within the page's landmark; the list itself scrolls.
                    comboboxProps={{ withinPortal: false }}
                    withScrollArea={false}
                    styles={{ options: { maxHeight: 240, overflowY: 'auto' } }}
                    {...form.getInputProps('default_region')}
                    value={form.values.default_region || null}
                    onChange={(region: string | null) => form.setFieldValue('default_region', region ?? '')}
                  />
                )}
              </PlainSection>
              <PlainSection
                title="Questions"
                description="Up to three, in this order. Answers are shown on each person and in exports."
              >
                <QuestionFields
                  form={form}
                  saved={saved.questions}
                  removedBefore={waitlist.questions.filter(({ soft_deleted }) => soft_deleted)}
                />
              </PlainSection>
            </ShownIn>
          </SettingsTab>
        </Stack>
      )}
    </PreviewBeside>
  );
}

/** The waitlist with the unsaved values, for the preview. */
function previewed(waitlist: Waitlist, { waitlist_name, required_contact, questions }: FormValues): PreviewedWaitlist {
  const { first_name, last_name } = required_contact;
  return {
    ...toPublic(waitlist),
    waitlist_name,
    required_contact,
    uses_firstname_lastname: first_name === 'optional' || last_name === 'optional',
    questions: toQuestions(questions).map((question, index) => ({
      // A new question has no id yet.
      id: question.id ?? -1 - index,
      question_value: question.question_value,
      optional: question.optional ?? false,
      answer_value: question.answer_value ?? null,
    })),
  };
}

function valuesOf(waitlist: Waitlist): FormValues {
  const page = waitlist.waitlist_url_location;
  return {
    waitlist_name: waitlist.waitlist_name,
    waitlist_url_location: page === hostedPage(waitlist) ? '' : page,
    slug: waitlist.slug ?? '',
    required_contact: askedOf(waitlist),
    default_region: waitlist.default_region ?? '',
    questions: questionsOf(waitlist.questions),
  };
}

/** What the form asks for. It asks for an optional name only if the waitlist uses names. */
function askedOf({ required_contact: contact, uses_firstname_lastname: usesNames }: Waitlist): RequiredContact {
  const asked = (requirement: Requirement) => (requirement === 'optional' && !usesNames ? 'off' : requirement);
  return { ...contact, first_name: asked(contact.first_name), last_name: asked(contact.last_name) };
}

function changesOf(changed: Partial<FormValues>, before: FormValues, waitlist: Waitlist): SettingChanges {
  const { waitlist_url_location: page, slug: typed, required_contact, default_region, questions, ...others } = changed;
  return {
    ...others,
    ...pageChanges(waitlist, page, typed === undefined ? undefined : readSlug(typed).text || null),
    ...(required_contact && contactChanges(required_contact, before.required_contact)),
    ...(default_region !== undefined && { default_region: default_region || null }),
    ...(questions && { questions: toQuestions(questions) }),
  };
}

/** The page of this service, under its old or its new name, is not a page of the owner's own, so it is not stored. */
function pageChanges(waitlist: Waitlist, page?: string, slug?: string | null): SettingChanges {
  const { id, slug: before, waitlist_url_location: pageBefore } = waitlist;
  const hosted = [before, null, slug ?? null].map((name) => hostedPage({ id, slug: name }));
  const isHosted = page === undefined ? slug !== undefined && hosted.includes(pageBefore) : hosted.includes(page);
  return {
    ...(slug !== undefined && { slug }),
    ...(page !== undefined && { waitlist_url_location: page || null }),
    ...(isHosted && { waitlist_url_location: null }),
  };
}

function contactChanges(contact: RequiredContact, before: RequiredContact): SettingChanges {
  const { email, phone, first_name, last_name } = contact;
  // Together, because their rule is about both.
  const changesContact = email !== before.email || phone !== before.phone;
  const changesNames = first_name !== before.first_name || last_name !== before.last_name;
  return {
    required_contact: {
      ...(changesContact && { email, phone }),
      ...(changesNames && { first_name, last_name }),
    },
    ...(changesNames && { uses_firstname_lastname: first_name === 'optional' || last_name === 'optional' }),
  };
}
