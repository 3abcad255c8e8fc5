import {
  Alert,
  Anchor,
  Group,
  NumberInput,
  PasswordInput,
  Radio,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { sendsMail } from '../environment';
import { countPeople } from '../parts/format';
import { NoMail } from '../parts/no-mail';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { SHORT_INPUT } from '../theme';
import { type SettingChanges, SettingsTab, useSettingsForm } from './settings-form';

type Captcha = NonNullable<Waitlist['captcha']>;
type NumberRule = 'referrals_per_hour' | 'referrals_per_network_per_hour' | 'minimum_seconds';

interface TrustValues extends Record<string, unknown> {
  verification: Waitlist['verification'];
  fraud: Waitlist['fraud'];
  captcha: {
    provider: Captcha['provider'] | 'none';
    site_key: string;
    /** Empty keeps the stored one: the service never gives it back. */
    secret: string;
    when_unavailable: NonNullable<Captcha['when_unavailable']>;
  };
}

type TrustForm = UseFormReturnType<TrustValues>;

const VERIFICATION = [
  { value: 'off', label: 'Off', description: 'Nobody gets a verification mail.' },
  {
    value: 'optional',
    label: 'Optional',
    description: 'People join at once. A referral counts once the new person has confirmed their address.',
  },
  {
    value: 'required',
    label: 'Required',
    description: 'People take their place in the queue when they confirm their address.',
  },
] as const;

const PROVIDERS = [
  { value: 'none', label: 'None' },
  { value: 'turnstile', label: 'Cloudflare Turnstile' },
  { value: 'hcaptcha', label: 'hCaptcha' },
];

/** The rules with a number. `initial` is the service's default, used when a rule is turned on. */
const NUMBER_RULES: readonly {
  readonly rule: NumberRule;
  readonly label: string;
  readonly description: string;
  readonly initial: number;
}[] = [
  {
    rule: 'referrals_per_hour',
    label: 'Referrals of one person within an hour',
    description: 'Referrals above this number are withheld.',
    initial: 60,
  },
  {
    rule: 'referrals_per_network_per_hour',
    label: 'Referrals of one person from one network within an hour',
    description: 'Referrals above this number are withheld.',
    initial: 20,
  },
  {
    rule: 'minimum_seconds',
    label: 'Seconds to fill in the form',
    description: 'Referrals by a form that is sent faster are withheld.',
    initial: 2,
  },
];

/** Whether people confirm their addresses, and which referrals wait for the owner's approval. */
export function TrustTab({ waitlist }: { waitlist: Waitlist }) {
  const settings = useSettingsForm(waitlist, valuesOf, changesOf);
  const { form, saved } = settings;
  return (
    <SettingsTab settings={settings}>
      <VerificationSection form={form} saved={saved} waitlist={waitlist} />
      <ReferralSection form={form} />
      <CaptchaSection form={form} saved={saved.captcha} />
    </SettingsTab>
  );
}

function VerificationSection({ form, saved, waitlist }: { form: TrustForm; saved: TrustValues; waitlist: Waitlist }) {
  const isTurnedOn = saved.verification === 'off' && form.values.verification !== 'off';
  return (
    <PlainSection
      title="Verified addresses"
      description={sendsMail ? 'A mail asks new people to confirm their address.' : undefined}
    >
      {!sendsMail && <NoMail waitlist={waitlist} />}
      <Radio.Group label="Verification" errorProps={{ mt: 'xs' }} {...form.getInputProps('verification')}>
        <Stack gap="xs" mt="xs">
          {VERIFICATION.map((choice) => (
            <Radio
              key={choice.value}
              {...choice}
              // Without a mail server, the saved choice stays, and verification can be turned off.
              disabled={!sendsMail && choice.value !== 'off' && choice.value !== saved.verification}
            />
          ))}
        </Stack>
      </Radio.Group>
      <div role="status">{isTurnedOn && <JoinedBefore waitlist={waitlist} />}</div>
      <Text size="sm">
        <Anchor component={Link} to={`/${waitlist.id}/settings/mails`} inherit underline="always">
          Edit and preview this mail
        </Anchor>
      </Text>
    </PlainSection>
  );
}

/** What turning verification on means for people who joined before. */
function JoinedBefore({ waitlist }: { waitlist: Waitlist }) {
  const { current_signups: people } = waitlist.statistics;
  if (people === 0) return null;
  const asksAll = waitlist.required_contact.email === 'required';
  return (
    <Alert variant="light" title={`${countPeople(people)} joined before`}>
      <Text size="sm">
        {people === 1 ? 'This person keeps the place' : 'They keep their places'} and the referrals counted so far, and
        no mail goes out. Only people who join from now on are asked.
        {asksAll && ' Whoever has not confirmed finds a button on their private page that sends them a link.'} To write
        to all of them yourself,{' '}
        <Anchor component={Link} to={`/${waitlist.id}/transfer`} inherit c="inherit" underline="always">
          export the addresses
        </Anchor>
        .
      </Text>
    </Alert>
  );
}

function ReferralSection({ form }: { form: TrustForm }) {
  const { fraud } = form.values;
  return (
    <PlainSection
      title="Suspicious referrals"
      description="A suspicious person joins as any other, but the referral earns nothing until you approve it. People then has a tab “Withheld” with these people."
    >
      <Switch
        label="Withhold referrals from throwaway addresses"
        checked={fraud.disposable_domains === true}
        onChange={({ currentTarget }) => form.setFieldValue('fraud.disposable_domains', currentTarget.checked || null)}
      />
      <Switch
        label="Withhold referrals whose mailbox is already on the waitlist"
        description="a.da+1@gmail.com is the mailbox ada@gmail.com."
        checked={fraud.same_mailbox === true}
        onChange={({ currentTarget }) => form.setFieldValue('fraud.same_mailbox', currentTarget.checked || null)}
      />
      {NUMBER_RULES.map(({ rule, label, description, initial }) => (
        <Group key={rule} align="flex-start" gap="sm" wrap="nowrap">
          <Switch
            mt={4}
            aria-label={`Rule: ${label}`}
            checked={fraud[rule] !== null}
            onChange={({ currentTarget }) =>
              form.setFieldValue(`fraud.${rule}`, currentTarget.checked ? initial : null)
            }
          />
          <NumberInput
            flex={1}
            styles={SHORT_INPUT}
            label={label}
            description={description}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            disabled={fraud[rule] === null}
            {...form.getInputProps(`fraud.${rule}`)}
            value={fraud[rule] ?? ''}
          />
        </Group>
      ))}
    </PlainSection>
  );
}

function CaptchaSection({ form, saved }: { form: TrustForm; saved: TrustValues['captcha'] }) {
  const { captcha } = form.values;
  const isSecretStored = captcha.provider === saved.provider && captcha.site_key === saved.site_key;
  return (
    <PlainSection title="Captcha" description="A test on the signup form that programs fail.">
      <Select label="Provider" data={PROVIDERS} allowDeselect={false} {...form.getInputProps('captcha.provider')} />
      {captcha.provider !== 'none' && (
        <>
          <TextInput
            label="Site key"
            description="Public: pages show it."
            required
            {...form.getInputProps('captcha.site_key')}
          />
          <PasswordInput
            label="Secret"
            required={!isSecretStored}
            description={
              isSecretStored
                ? 'Leave it empty to keep the stored one.'
                : 'From the same page of the provider. It is stored encrypted, and never shown again.'
            }
            autoComplete="off"
            {...form.getInputProps('captcha.secret')}
          />
          <Radio.Group label="If the provider does not answer" {...form.getInputProps('captcha.when_unavailable')}>
            <Stack gap="xs" mt="xs">
              <Radio value="withhold" label="Withhold the referral until you approve it" />
              <Radio value="accept" label="Accept the signup as if the test was passed" />
            </Stack>
          </Radio.Group>
        </>
      )}
    </PlainSection>
  );
}

function valuesOf(waitlist: Waitlist): TrustValues {
  return {
    verification: waitlist.verification,
    fraud: waitlist.fraud,
    captcha: {
      provider: waitlist.captcha?.provider ?? 'none',
      site_key: waitlist.captcha?.site_key ?? '',
      secret: '',
      when_unavailable: waitlist.captcha?.when_unavailable ?? 'withhold',
    },
  };
}

function changesOf({ captcha, ...changed }: Partial<TrustValues>): SettingChanges {
  return {
    ...changed,
    ...(captcha && { captcha: captchaOf(captcha) }),
  };
}

function captchaOf({ provider, secret, ...others }: TrustValues['captcha']): SettingChanges['captcha'] {
  return provider === 'none' ? null : { provider, ...others, ...(secret !== '' && { secret }) };
}
