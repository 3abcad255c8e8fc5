import { Accordion, Input, SimpleGrid, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMemo } from 'react';
import { AddressInput } from '../parts/address-input';
import { readOrigins } from '../parts/addresses';
import { normalizeOnBlur } from '../parts/normalize-on-blur';
import { defaultText, type OwnTextKey } from '../../page/own-texts';
import { type Catalog, ENGLISH } from '../../page/texts';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { useMay } from '../roles';
import { OWN_DIRECTION } from '../theme';
import { COLORS, LONG_TEXTS, TEXT_GROUPS } from './appearance-fields';
import { type AppearanceValues, previewed, toStyle, toTexts, valuesOf } from './appearance-values';
import { ColorField, colorFault } from './color-field';
import { readLanguage } from './language';
import { LanguageField } from './language-field';
import { PreviewBeside, ShownIn } from './preview-beside';
import { type SettingChanges, SettingsTab, useSettingsForm } from './settings-form';
import { useCatalog } from './use-catalog';

type AppearanceForm = UseFormReturnType<AppearanceValues>;

const RULES = {
  lang: (typed: string) => readLanguage(typed).fault,
  configuration_style_json: Object.fromEntries(COLORS.map(({ name }) => [name, colorFault])),
};

/** The looks and texts of the page and the widget, with a preview. */
export function AppearanceTab({ waitlist }: { waitlist: Waitlist }) {
  const settings = useSettingsForm(waitlist, valuesOf, (changed) => changesOf(changed, waitlist), RULES);
  const { form } = settings;
  const shown = useMemo(() => previewed(waitlist, form.values), [waitlist, form.values]);
  const catalog = useCatalog(shown.lang);
  return (
    <PreviewBeside waitlist={shown}>
      {(previewButton) => (
        <SettingsTab settings={settings} action={previewButton}>
          <TextsSection form={form} catalog={catalog} waitlist={waitlist} />
          <ShownIn state="form">
            <ColorsSection form={form} />
          </ShownIn>
          <ShownIn state="turn">
            <PlainSection title="When it is their turn">
              <AddressInput
                form={form}
                path="your_turn_url"
                isHttpsOnly
                label="Destination address"
                description="The page of a person whom you let in has a button that leads here."
                placeholder="https://example.com/welcome"
              />
            </PlainSection>
          </ShownIn>
          <ShownIn state="joined">
            <PlainSection title="Contact">
              <TextInput
                label="Email address or URL"
                description="Shown on a private page where the service cannot mail the person a link to leave."
                placeholder="hello@example.com"
                {...form.getInputProps('contact')}
              />
            </PlainSection>
          </ShownIn>
          <ShownIn state="joined">
            <PlainSection title="Sharing">
              <Textarea
                label="Share message"
                attributes={OWN_DIRECTION}
                description="The person’s own link follows it."
                autosize
                placeholder={defaultText(catalog, 'message')}
                {...form.getInputProps('twitter_message')}
              />
              <Switch
                label="Show links to social networks"
                {...form.getInputProps('widget_shows_social_links', { type: 'checkbox' })}
              />
              <Switch
                label="Say who invited a visitor"
                description="Behind a referral link, the page shows the first name of the person whose link it is, once their email is verified."
                {...form.getInputProps('shows_inviter', { type: 'checkbox' })}
              />
            </PlainSection>
          </ShownIn>
          <WidgetSection form={form} />
        </SettingsTab>
      )}
    </PreviewBeside>
  );
}

interface TextsProps {
  readonly form: AppearanceForm;
  readonly catalog: Catalog;
  readonly waitlist: Waitlist;
}

function TextsSection({ form, catalog, waitlist }: TextsProps) {
  const mayChange = useMay('editor');
  const hasOwn = (keys: readonly OwnTextKey[]) => keys.some((key) => form.values.texts[key] !== '');
  const groups = TEXT_GROUPS.filter(({ keys }) => mayChange || hasOwn(keys));
  return (
    <PlainSection title="Texts">
      <ShownIn state="form">
        <TextInput
          label="Title"
          attributes={OWN_DIRECTION}
          placeholder={waitlist.waitlist_name}
          {...form.getInputProps('title')}
        />
        <Textarea
          label="Introduction"
          attributes={OWN_DIRECTION}
          autosize
          description="Below the title."
          {...form.getInputProps('texts.introduction')}
        />
        <TextInput
          label="Button text"
          attributes={OWN_DIRECTION}
          placeholder={defaultText(catalog, 'button')}
          {...form.getInputProps('signup_button_title')}
        />
        <Textarea
          label="What the data is for"
          attributes={OWN_DIRECTION}
          description="Below the button, such as: We write to you once, when it is your turn."
          autosize
          {...form.getInputProps('texts.purpose')}
        />
      </ShownIn>
      <ShownIn state="joined">
        <TextInput
          label="After joining"
          attributes={OWN_DIRECTION}
          placeholder={defaultText(catalog, 'joined')}
          {...form.getInputProps('success_title')}
        />
      </ShownIn>
      <LanguageField form={form} />
      <Accordion
        variant="contained"
        chevronPosition="left"
        // Whoever may not change them cannot open anything in the form.
        {...(!mayChange && { multiple: true, defaultValue: groups.map((_, index) => String(index)) })}
      >
        {groups.map(({ title, state, keys }, index) => (
          <Accordion.Item key={title} value={String(index)}>
            <Accordion.Control>
              <Text size="sm">Other texts: {title}</Text>
            </Accordion.Control>
            <Accordion.Panel>
              <ShownIn state={state}>
                <SimpleGrid cols={1} spacing="sm">
                  {keys.map((key) => (
                    <OtherText key={key} form={form} catalog={catalog} name={key} />
                  ))}
                </SimpleGrid>
              </ShownIn>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </PlainSection>
  );
}

/** The desk is English, so labels are. What stands where the owner writes nothing is in the language of the page. */
function OtherText({ form, catalog, name }: Pick<TextsProps, 'form' | 'catalog'> & { readonly name: OwnTextKey }) {
  const label = defaultText(ENGLISH, name);
  const placeholder = defaultText(catalog, name);
  const props = {
    label,
    description: hintOf(label),
    placeholder,
    attributes: OWN_DIRECTION,
    ...form.getInputProps(`texts.${name}`),
  };
  return LONG_TEXTS.includes(name) ? <Textarea autosize {...props} /> : <TextInput {...props} />;
}

function ColorsSection({ form }: { form: AppearanceForm }) {
  return (
    <PlainSection
      title="Logo and colors"
      description="Without colors, the page follows each visitor’s light or dark setting. Text that cannot be read on its background becomes black or white."
    >
      <AddressInput
        form={form}
        path="logo"
        isHttpsOnly
        label="Logo"
        description="The https address of an image. It stands on the page, not in the widget."
        placeholder="https://example.com/logo.png"
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {COLORS.map(({ name, label }) => (
          <ColorField key={name} form={form} name={name} label={label} />
        ))}
      </SimpleGrid>
    </PlainSection>
  );
}

function WidgetSection({ form }: { form: AppearanceForm }) {
  const originFault = Object.entries(form.errors).find(([field]) => field.startsWith('frame_origins'))?.[1];
  return (
    <PlainSection title="Page and widget">
      <Switch
        label="Hide the number of signups from the public API"
        {...form.getInputProps('hide_counts', { type: 'checkbox' })}
      />
      <Switch
        label="Hide the title in the widget"
        {...form.getInputProps('remove_widget_headers', { type: 'checkbox' })}
      />
      <div>
        <Textarea
          label="Sites that may show the page in a frame"
          description="One origin per line, such as https://example.com. The widget needs none."
          autosize
          minRows={2}
          {...form.getInputProps('frame_origins')}
          {...normalizeOnBlur(form, 'frame_origins', readOrigins)}
          error={originFault !== undefined}
        />
        {originFault && <Input.Error mt={4}>{originFault}</Input.Error>}
      </div>
    </PlainSection>
  );
}

function hintOf(text: string): string | undefined {
  const values = text.match(/\{\w+\}/g);
  return values ? `${values.join(', ')} stands for the value.` : undefined;
}

function changesOf(changed: Partial<AppearanceValues>, waitlist: Waitlist): SettingChanges {
  const { texts, configuration_style_json: colors, frame_origins: origins, ...others } = changed;
  const { lang, title, success_title, signup_button_title, logo, your_turn_url, contact, twitter_message, ...flags } =
    others;
  return {
    ...flags,
    ...(lang !== undefined && { lang: readLanguage(lang).text }),
    // An empty field is none.
    ...Object.fromEntries(
      Object.entries({ title, success_title, signup_button_title, logo, your_turn_url, contact, twitter_message })
        .filter(([, text]) => text !== undefined)
        .map(([name, text]) => [name, text === '' ? null : text]),
    ),
    ...(texts && { texts: toTexts(texts) }),
    ...(colors && { configuration_style_json: toStyle(colors, waitlist) }),
    ...(origins !== undefined && { frame_origins: readOrigins(origins).text.split('\n').filter(Boolean) }),
  };
}
