import { Anchor, NumberInput, Radio, Stack, Switch, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { OFFERS } from '../bounds';
import { sendsMail } from '../environment';
import { AddressInput } from '../parts/address-input';
import { readAddress } from '../parts/addresses';
import { count } from '../parts/format';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { SHORT_INPUT } from '../theme';
import { numberFault } from './number-fault';
import { type SettingChanges, SettingsTab, useSettingsForm } from './settings-form';

type Rules = Waitlist['offers'];

interface OfferValues extends Record<string, unknown> {
  offers: {
    /** Null: never expires. A field that was emptied holds an empty text. */
    hours: number | string | null;
    on_expiry: Rules['on_expiry'];
    /** Empty means null. */
    url: string;
  };
}

/** The service's default, for when the limit is turned on. */
const HOURS_DEFAULT = 48;

const ON_EXPIRY = [
  { value: 'out', label: 'Stay out of the line', description: 'You can put them back at any time.' },
  {
    value: 'end',
    label: 'Go to the end of the line',
    description: 'They keep the places that they earned. A person whose third offer expires stays out.',
  },
] as const;

const RULES = {
  offers: {
    hours: (hours: OfferValues['offers']['hours']) => (hours === null ? null : numberFault(hours, OFFERS.hours)),
    url: (url: string) => readAddress(url).fault,
  },
};

/** How long offers hold, and what happens after they end. */
export function OffersTab({ waitlist }: { waitlist: Waitlist }) {
  const settings = useSettingsForm(waitlist, valuesOf, changesOf, RULES);
  const { form } = settings;
  const { hours } = form.values.offers;
  return (
    <SettingsTab settings={settings}>
      <PlainSection
        title="Offers"
        description="An offer keeps a seat for a person for some time. They accept or decline it on a page whose link only they get."
      >
        <Text size="sm">
          You offer seats by hand{' '}
          <Anchor component={Link} to={`/${waitlist.id}/people`} inherit underline="always">
            under People
          </Anchor>
          .
          {sendsMail ? (
            <>
              {' '}
              The link goes out by mail, with a reminder before the end. You can{' '}
              <Anchor component={Link} to={`/${waitlist.id}/settings/mails`} inherit underline="always">
                write the mail yourself
              </Anchor>
              .
            </>
          ) : (
            ' This service sends no mail: you get each link, to send yourself.'
          )}
        </Text>
        <Switch
          label="Offers expire"
          description={sendsMail && 'The time starts when the mail is sent.'}
          checked={hours !== null}
          onChange={({ currentTarget }) =>
            form.setFieldValue('offers.hours', currentTarget.checked ? HOURS_DEFAULT : null)
          }
        />
        <NumberInput
          label="Hours to answer"
          description={`At most ${count(OFFERS.hours.maximum)}. Applies to offers made from now on.`}
          styles={SHORT_INPUT}
          min={OFFERS.hours.minimum}
          max={OFFERS.hours.maximum}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          disabled={hours === null}
          {...form.getInputProps('offers.hours')}
          value={hours ?? ''}
        />
        <Radio.Group label="People who do not answer in time" {...form.getInputProps('offers.on_expiry')}>
          <Stack gap="xs" mt="xs">
            {ON_EXPIRY.map((choice) => (
              <Radio key={choice.value} {...choice} />
            ))}
          </Stack>
        </Radio.Group>
        <AddressInput
          form={form}
          path="offers.url"
          label="Address after accepting"
          description={
            waitlist.your_turn_url
              ? `People come here after accepting, with the code as “offer” in the address. Leave it empty for ${waitlist.your_turn_url}.`
              : 'People come here after accepting, with the code as “offer” in the address. Leave it empty for their private page.'
          }
          placeholder="https://example.com/welcome"
          maxLength={OFFERS.url.maxLength}
        />
      </PlainSection>
    </SettingsTab>
  );
}

function valuesOf({ offers: { hours, on_expiry, url } }: Waitlist): OfferValues {
  return { offers: { hours, on_expiry, url: url ?? '' } };
}

/** The service keeps the rules that are not sent. */
function changesOf({ offers }: Partial<OfferValues>, before: OfferValues): SettingChanges {
  if (!offers) return {};
  const { hours, on_expiry, url } = offers;
  return {
    offers: {
      ...(hours !== before.offers.hours && { hours: hours === null ? null : Number(hours) }),
      ...(on_expiry !== before.offers.on_expiry && { on_expiry }),
      ...(url !== before.offers.url && { url: url.trim() || null }),
    },
  };
}
