import { Accordion, ColorInput, Input, SimpleGrid, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { TEXTS } from '../../page/texts';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { COLORS, TEXT_GROUPS } from './look-fields';
import { type LookValues, toStyle, toTexts, valuesOf } from './look-values';
import { Preview } from './preview';
import { type SettingChanges, SettingsTab, useSettingsForm } from './settings-form';
import classes from './settings.module.css';

type LookForm = UseFormReturnType<LookValues>;

/** What the page and the widget look like and say, with both of them beside it. */
export function LookTab({ waitlist }: { waitlist: Waitlist }) {
  const settings = useSettingsForm(waitlist, valuesOf, (changed) => changesOf(changed, waitlist));
  const { form } = settings;
  return (
    <div className={classes.look}>
      <SettingsTab settings={settings}>
        <TextsSection form={form} waitlist={waitlist} />
        <ColorsSection form={form} />
        <PlainSection title="When it is their turn">
          <TextInput
            label="Destination address"
            description="The page of a person whom you let in has a button that leads here."
            type="url"
            placeholder="https://example.com/welcome"
            {...form.getInputProps('your_turn_url')}
          />
        </PlainSection>
        <PlainSection title="Sharing">
          <Textarea
            label="Share message"
            description="The person’s own link follows it."
            autosize
            placeholder={TEXTS.message}
            {...form.getInputProps('twitter_message')}
          />
          <Switch
            label="Show links to social networks"
            {...form.getInputProps('widget_shows_social_links', { type: 'checkbox' })}
          />
        </PlainSection>
        <WidgetSection form={form} />
      </SettingsTab>
      <Preview waitlist={waitlist} values={form.values} />
    </div>
  );
}

function TextsSection({ form, waitlist }: { form: LookForm; waitlist: Waitlist }) {
  return (
    <PlainSection title="Texts">
      <TextInput label="Title" placeholder={waitlist.waitlist_name} {...form.getInputProps('title')} />
      <Textarea
        label="Introduction"
        autosize
        description="Below the title."
        {...form.getInputProps('texts.introduction')}
      />
      <TextInput label="Button text" placeholder={TEXTS.button} {...form.getInputProps('signup_button_title')} />
      <Textarea
        label="What the data is for"
        description="Below the button, such as: We write to you once, when it is your turn."
        autosize
        {...form.getInputProps('texts.purpose')}
      />
      <TextInput label="After joining" placeholder={TEXTS.joined} {...form.getInputProps('success_title')} />
      <TextInput
        label="Language"
        description="Language tag of these texts, such as en, de or pt-BR. It sets the text direction and number format."
        maw={240}
        {...form.getInputProps('lang')}
      />
      <Accordion variant="contained" chevronPosition="left">
        {TEXT_GROUPS.map(({ title, keys }) => (
          <Accordion.Item key={title} value={title}>
            <Accordion.Control>
              <Text size="sm">Other texts: {title}</Text>
            </Accordion.Control>
            <Accordion.Panel>
              <SimpleGrid cols={1} spacing="sm">
                {keys.map((key) => (
                  <TextInput
                    key={key}
                    label={TEXTS[key]}
                    description={hintOf(TEXTS[key])}
                    placeholder={TEXTS[key]}
                    {...form.getInputProps(`texts.${key}`)}
                  />
                ))}
              </SimpleGrid>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </PlainSection>
  );
}

function ColorsSection({ form }: { form: LookForm }) {
  return (
    <PlainSection
      title="Logo and colors"
      description="Without colors, the page follows each visitor’s light or dark setting. Text that cannot be read on its background becomes black or white."
    >
      <TextInput
        label="Logo"
        description="The https address of an image. It stands on the page, not in the widget."
        type="url"
        placeholder="https://example.com/logo.png"
        {...form.getInputProps('logo')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {COLORS.map(({ name, label }) => (
          <ColorInput
            key={name}
            label={label}
            placeholder="Default"
            withEyeDropper={false}
            // Within the page's landmark.
            popoverProps={{ withinPortal: false }}
            withPreview={form.values.configuration_style_json[name] !== ''}
            {...form.getInputProps(`configuration_style_json.${name}`)}
          />
        ))}
      </SimpleGrid>
    </PlainSection>
  );
}

function WidgetSection({ form }: { form: LookForm }) {
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

function changesOf(changed: Partial<LookValues>, waitlist: Waitlist): SettingChanges {
  const { texts, configuration_style_json: colors, frame_origins: origins, ...others } = changed;
  const { title, success_title, signup_button_title, logo, your_turn_url, twitter_message, ...flags } = others;
  return {
    ...flags,
    // An empty field is none.
    ...Object.fromEntries(
      Object.entries({ title, success_title, signup_button_title, logo, your_turn_url, twitter_message })
        .filter(([, text]) => text !== undefined)
        .map(([name, text]) => [name, text === '' ? null : text]),
    ),
    ...(texts && { texts: toTexts(texts) }),
    ...(colors && { configuration_style_json: toStyle(colors, waitlist) }),
    ...(origins !== undefined && { frame_origins: origins.split('\n').flatMap((line) => line.trim() || []) }),
  };
}
