import { Group, SegmentedControl, Stack, Title } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { renderPreview, type PreviewState, type PreviewTarget } from './drawn-preview';
import type { Waitlist } from '../queries';
import { type LookValues, toStyle, toTexts } from './look-values';
import classes from './settings.module.css';

const WIDTHS = { phone: 390, desktop: 1_280 } as const;
const HEIGHT_MIN = 560;
/** Standards mode, not quirks mode. */
const DOCUMENT = '<!doctype html><html><head><title>Preview</title></head><body></body></html>';

/** The page or the widget as the settings that are not saved yet make it. Drawn by the components of both. */
export function Preview({ waitlist, values }: { waitlist: Waitlist; values: LookValues }) {
  const [target, setTarget] = useState<PreviewTarget>('page');
  const [state, setState] = useState<PreviewState>('form');
  const [width, setWidth] = useState<keyof typeof WIDTHS>('phone');
  const [scheme, setScheme] = useState<'light' | 'dark'>('light');
  const box = useElementSize();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setIsLoaded] = useState(false);
  const [height, setHeight] = useState(HEIGHT_MIN);

  useEffect(() => {
    const page = frame.current?.contentDocument;
    if (!page || !isLoaded) return;
    renderPreview(page, { waitlist: previewed(waitlist, values), target, state, scheme });
    const measure = () => {
      const content = page.body.firstElementChild?.getBoundingClientRect();
      if (content) setHeight(Math.max(HEIGHT_MIN, Math.ceil(content.bottom + page.documentElement.scrollTop) + 32));
    };
    measure();
    // The logo arrives later.
    const observer = new ResizeObserver(measure);
    if (page.body.firstElementChild) observer.observe(page.body.firstElementChild);
    return () => observer.disconnect();
  }, [isLoaded, waitlist, values, target, state, scheme, width]);

  const scale = box.width === 0 ? 1 : Math.min(1, (box.width - 2) / WIDTHS[width]);
  return (
    <Stack component="aside" aria-label="Preview" gap="sm" className={classes.preview ?? ''}>
      <Title order={2} size="h4">
        Preview
      </Title>
      <Group gap="xs">
        <Choice label="What to show" value={target} onChange={setTarget} options={{ page: 'Page', widget: 'Widget' }} />
        <Choice label="Width" value={width} onChange={setWidth} options={{ phone: 'Phone', desktop: 'Desktop' }} />
        <Choice label="Colors" value={scheme} onChange={setScheme} options={{ light: 'Light', dark: 'Dark' }} />
        <Choice
          label="State"
          value={state}
          onChange={setState}
          options={{ form: 'Before', joined: 'Joined', turn: 'Let in' }}
        />
      </Group>
      <div ref={box.ref}>
        <div className={classes.stage} style={{ width: WIDTHS[width] * scale + 2, height: height * scale + 2 }}>
          {/* A picture: what it says is in the fields beside it. */}
          <iframe
            ref={frame}
            className={classes.frame}
            title="Preview"
            srcDoc={DOCUMENT}
            inert
            onLoad={() => setIsLoaded(true)}
            width={WIDTHS[width]}
            height={height}
            style={{ transform: `scale(${scale})` }}
          />
        </div>
      </div>
    </Stack>
  );
}

function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
}) {
  return (
    <SegmentedControl
      size="xs"
      aria-label={label}
      value={value}
      onChange={(next) => onChange(next as Value)}
      data={Object.entries<string>(options).map(([option, name]) => ({ value: option, label: name }))}
    />
  );
}

function previewed(waitlist: Waitlist, values: LookValues) {
  const { texts, configuration_style_json: colors, lang } = values;
  const orNull = (text: string) => (text === '' ? null : text);
  return {
    ...waitlist,
    questions: waitlist.questions.filter(({ soft_deleted }) => !soft_deleted),
    title: orNull(values.title),
    success_title: orNull(values.success_title),
    signup_button_title: orNull(values.signup_button_title),
    logo: values.logo.startsWith('https://') ? values.logo : null,
    your_turn_url: orNull(values.your_turn_url),
    twitter_message: orNull(values.twitter_message),
    widget_shows_social_links: values.widget_shows_social_links,
    remove_widget_headers: values.remove_widget_headers,
    lang: isLanguage(lang) ? lang : waitlist.lang,
    texts: toTexts(texts),
    configuration_style_json: toStyle(colors, waitlist),
  };
}

/** False while a tag is being typed. */
function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
