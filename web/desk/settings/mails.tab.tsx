import { Anchor, Button, Group, SegmentedControl, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, bodyOf } from '../api';
import { WAITLIST } from '../bounds';
import { sendsMail } from '../environment';
import { NoMail } from '../parts/no-mail';
import { ProblemAlert } from '../parts/problem-alert';
import { PlainSection } from '../parts/section';
import { useFocusKeeper } from '../parts/use-focus-keeper';
import type { Waitlist } from '../queries';
import classes from './settings.module.css';
import { type SettingChanges, SettingsTab, useSettingsForm } from './settings-form';

type Kind = keyof Waitlist['mails'];
type Words = Record<'subject' | 'text', string>;

interface MailValues extends Record<string, unknown> {
  mail_on_signup: boolean;
  mail_on_offboarding: boolean;
  mails: Record<Kind, Words>;
}

const KINDS: readonly {
  readonly kind: Kind;
  readonly title: string;
  readonly description: ReactNode;
  readonly placeholders: readonly string[];
}[] = [
  {
    kind: 'verification',
    title: 'Verification',
    description: 'Asks people to confirm their address, by a link.',
    placeholders: ['{place}', '{waitlist_name}', '{link}'],
  },
  {
    kind: 'welcome',
    title: 'Welcome',
    description: 'Tells people their place, the address of their own page, and their link to share.',
    placeholders: ['{first_name}', '{place}', '{waitlist_name}', '{link}'],
  },
  {
    kind: 'your_turn',
    title: 'Your turn',
    description: 'Tells people that they have been let in.',
    placeholders: ['{first_name}', '{waitlist_name}', '{link}'],
  },
];

const VERIFICATION: Readonly<Record<string, string>> = {
  off: 'Nobody is asked to confirm an address.',
  optional: 'Everybody who joins is asked to confirm the address.',
  required: 'Everybody who joins must confirm the address.',
};

/** Which mails people get, and the owner's words in them. */
export function MailsTab({ waitlist }: { waitlist: Waitlist }) {
  const settings = useSettingsForm(waitlist, valuesOf, changesOf);
  const { form, saved, isDirty } = settings;
  const [shown, setShown] = useState<Kind>('verification');
  return (
    <div className={classes.beside}>
      <SettingsTab settings={settings}>
        <SwitchSection form={form} saved={saved} waitlist={waitlist} />
        {KINDS.map(({ kind, title, description, placeholders }) => (
          <PlainSection key={kind} title={title} description={description}>
            <div className={classes.shownIn} onFocus={() => setShown(kind)}>
              <TextInput
                label={`Subject of the mail “${title}”`}
                description="Leave empty for the default."
                maxLength={WAITLIST.mail_subject.maxLength}
                {...form.getInputProps(`mails.${kind}.subject`)}
              />
              <Textarea
                label={`Text of the mail “${title}”`}
                description={placeholdersText(placeholders)}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                autosize
                minRows={3}
                maxRows={12}
                maxLength={WAITLIST.mail_text.maxLength}
                {...form.getInputProps(`mails.${kind}.text`)}
              />
            </div>
          </PlainSection>
        ))}
      </SettingsTab>
      <aside aria-label="Preview" className={classes.preview}>
        <MailPreview waitlistId={waitlist.id} kind={shown} onKind={setShown} isDirty={isDirty} />
      </aside>
    </div>
  );
}

function SwitchSection({
  form,
  saved,
  waitlist,
}: {
  form: UseFormReturnType<MailValues>;
  saved: MailValues;
  waitlist: Waitlist;
}) {
  return (
    <PlainSection title="Mails to people" description="All of them are in the language of the page.">
      {!sendsMail && <NoMail />}
      <Text size="sm">
        {VERIFICATION[waitlist.verification]}{' '}
        <Anchor component={Link} to={`/${waitlist.id}/settings/trust`} inherit underline="always">
          Change this under Trust
        </Anchor>
      </Text>
      <Switch
        label="Welcome people when they join"
        description={
          waitlist.verification === 'optional'
            ? 'Sent together with the verification mail.'
            : 'Once, when they get their place.'
        }
        disabled={!sendsMail && !saved.mail_on_signup}
        {...form.getInputProps('mail_on_signup', { type: 'checkbox' })}
      />
      <Switch
        label="Send a mail to people when they are let in"
        disabled={!sendsMail && !saved.mail_on_offboarding}
        {...form.getInputProps('mail_on_offboarding', { type: 'checkbox' })}
      />
    </PlainSection>
  );
}

function placeholdersText(names: readonly string[]): string {
  const unless = names.includes('{first_name}') ? ' The first name is empty unless the address is confirmed.' : '';
  return `Between our greeting and the button. Leave empty for the default. You can use ${names.join(', ')}.${unless}`;
}

function MailPreview({
  waitlistId,
  kind,
  onKind,
  isDirty,
}: {
  waitlistId: number;
  kind: Kind;
  onKind: (kind: Kind) => void;
  isDirty: boolean;
}) {
  const path = { waitlist_id: waitlistId };
  const preview = useQuery({
    queryKey: ['waitlists', waitlistId, 'mail_preview', kind],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}/mail_preview', { params: { path, query: { kind } }, signal })),
    placeholderData: keepPreviousData,
  });
  const test = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/api/v1/waitlist/{waitlist_id}/mail_test', { params: { path }, body: { kind } })),
    onSuccess: () => notifications.show({ message: 'A test is on its way to your email' }),
  });
  // The button is disabled until the answer.
  const keepFocus = useFocusKeeper(test.isPending);
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="The mail to preview"
        fullWidth
        data={KINDS.map(({ kind: value, title: label }) => ({ value, label }))}
        value={kind}
        onChange={(value) => {
          test.reset();
          onKind(value);
        }}
      />
      {preview.isError && <ProblemAlert error={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data && (
        <>
          <Text size="sm" fw={600} dir="auto" style={{ overflowWrap: 'anywhere' }}>
            {preview.data.subject}
          </Text>
          <div className={classes.stage}>
            <iframe className={classes.mail} title="The mail" sandbox="" srcDoc={preview.data.html} />
          </div>
        </>
      )}
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {isDirty ? 'Save to see your changes here.' : 'With invented values.'}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          disabled={!sendsMail || isDirty}
          loading={test.isPending}
          onClick={() => {
            keepFocus();
            test.mutate();
          }}
        >
          Send me a test
        </Button>
      </Group>
      {test.isError && <ProblemAlert error={test.error} />}
    </Stack>
  );
}

function valuesOf({ mail_on_signup, mail_on_offboarding, mails }: Waitlist): MailValues {
  const wordsOf = (kind: Kind) => ({ subject: mails[kind]?.subject ?? '', text: mails[kind]?.text ?? '' });
  return {
    mail_on_signup,
    mail_on_offboarding,
    mails: {
      verification: wordsOf('verification'),
      welcome: wordsOf('welcome'),
      your_turn: wordsOf('your_turn'),
    },
  };
}

/** Of the words, only the texts that were changed here. */
function changesOf({ mails, ...changed }: Partial<MailValues>, before: MailValues): SettingChanges {
  if (!mails) return changed;
  const changedWords = KINDS.map(({ kind }) => {
    const parts = Object.entries(mails[kind]).filter(
      ([part, text]) => text !== before.mails[kind][part as keyof Words],
    );
    return [kind, Object.fromEntries(parts.map(([part, text]) => [part, text || null]))] as const;
  });
  return { ...changed, mails: Object.fromEntries(changedWords) };
}
