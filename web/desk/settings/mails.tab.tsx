import { Anchor, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { WAITLIST } from '../bounds';
import { sendsMail } from '../environment';
import { NoMail } from '../parts/no-mail';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { OWN_DIRECTION } from '../theme';
import { type Kind, KINDS } from './mail-kinds';
import { MailPreview } from './mail-preview';
import { Beside } from './preview-beside';
import classes from './settings.module.css';
import { type SettingChanges, SettingsTab, useSettingsForm } from './settings-form';

type Words = Record<'subject' | 'text', string>;

interface MailValues extends Record<string, unknown> {
  mail_on_signup: boolean;
  mail_on_offboarding: boolean;
  mails: Record<Kind, Words>;
}

type MailForm = UseFormReturnType<MailValues>;

const BELOW: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

const VERIFICATION: Readonly<Record<string, string>> = sendsMail
  ? {
      off: 'Nobody is asked to confirm an address.',
      optional: 'Everybody who joins is asked to confirm the address.',
      required: 'Everybody who joins must confirm the address.',
    }
  : { off: 'Verification is off.', optional: 'Verification is optional.', required: 'Verification is required.' };

const NAME = '{first_name}';

/** Which mails people get, and the owner's words in them. */
export function MailsTab({ waitlist }: { waitlist: Waitlist }) {
  const settings = useSettingsForm(waitlist, valuesOf, changesOf);
  const { form, saved, isDirty } = settings;
  const [shown, setShown] = useState<Kind>('verification');
  return (
    <Beside preview={<MailPreview waitlistId={waitlist.id} kind={shown} onKind={setShown} isDirty={isDirty} />}>
      {(previewButton) => (
        <SettingsTab settings={settings} action={previewButton}>
          <SwitchSection form={form} saved={saved} waitlist={waitlist} />
          {KINDS.map((mail) => (
            <WordsSection key={mail.kind} form={form} {...mail} onShow={() => setShown(mail.kind)} />
          ))}
        </SettingsTab>
      )}
    </Beside>
  );
}

function SwitchSection({ form, saved, waitlist }: { form: MailForm; saved: MailValues; waitlist: Waitlist }) {
  const withVerification = waitlist.verification === 'optional';
  const whenJoined = withVerification
    ? 'Sent together with the verification mail.'
    : 'Once, when they get their place.';
  return (
    <PlainSection title="Mails to people" description="All of them are in the language of the page.">
      {!sendsMail && <NoMail waitlist={waitlist} />}
      <Text size="sm">
        {VERIFICATION[waitlist.verification]}{' '}
        <Anchor component={Link} to={`/${waitlist.id}/settings/trust`} inherit underline="always">
          Change this under Trust
        </Anchor>
      </Text>
      <Switch
        label="Welcome people when they join"
        description={sendsMail ? whenJoined : waiting(saved.mail_on_signup)}
        disabled={!sendsMail && !saved.mail_on_signup}
        {...form.getInputProps('mail_on_signup', { type: 'checkbox' })}
      />
      <Switch
        label="Send a mail to people when they are let in"
        description={!sendsMail && waiting(saved.mail_on_offboarding)}
        disabled={!sendsMail && !saved.mail_on_offboarding}
        {...form.getInputProps('mail_on_offboarding', { type: 'checkbox' })}
      />
    </PlainSection>
  );
}

function waiting(isOn: boolean): string | undefined {
  return isOn ? 'Turned on, but no mail goes out.' : undefined;
}

function WordsSection({
  form,
  kind,
  title,
  description,
  placeholders,
  onShow,
}: (typeof KINDS)[number] & { form: MailForm; onShow: () => void }) {
  const { subject, text } = form.values.mails[kind];
  const hasName = placeholders.includes(NAME);
  return (
    <PlainSection title={title} description={description}>
      <div className={classes.shownIn} onFocus={onShow}>
        <TextInput
          label={`Subject of the mail “${title}”`}
          description={
            <>
              Leave empty for the default.
              {hasName && <WithoutName text={subject} />}
            </>
          }
          inputWrapperOrder={BELOW}
          attributes={OWN_DIRECTION}
          maxLength={WAITLIST.mail_subject.maxLength}
          {...form.getInputProps(`mails.${kind}.subject`)}
        />
        <Textarea
          label={`Text of the mail “${title}”`}
          description={
            <>
              Between our greeting and the button. Leave empty for the default. You can use {placeholders.join(', ')}.
              {hasName && ' The first name is empty unless the person gave one and confirmed the address.'}
              {hasName && <WithoutName text={text} />}
            </>
          }
          inputWrapperOrder={BELOW}
          attributes={OWN_DIRECTION}
          autosize
          minRows={3}
          maxRows={12}
          maxLength={WAITLIST.mail_text.maxLength}
          {...form.getInputProps(`mails.${kind}.text`)}
        />
      </div>
    </PlainSection>
  );
}

/** How the first line with the name reads to a person who has none. */
function WithoutName({ text }: { text: string }) {
  const line = text.split('\n').find((one) => one.includes(NAME));
  if (line === undefined) return null;
  return (
    <span className={classes.sample}>
      Without a first name: <bdi>“{line.replaceAll(NAME, '')}”</bdi>
    </span>
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
      offer: wordsOf('offer'),
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
