import { Group, NativeSelect, SegmentedControl, Stack } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { type PreviewedWaitlist, type PreviewState, type PreviewTarget, renderPreview } from './drawn-preview';
import classes from './settings.module.css';
import { useCatalog } from './use-catalog';

/** The page looks the same at all widths of a desktop; the widget never grows wider than its card. */
const WIDTHS = { page: { phone: 390, desktop: 720 }, widget: { phone: 390, desktop: 472 } } as const;
const HEIGHT_MIN = 560;
/** Standards mode, not quirks mode. */
const DOCUMENT = '<!doctype html><html><head><title>Preview</title></head><body></body></html>';
const STATES: Readonly<Record<PreviewState, string>> = {
  form: 'Form',
  faults: 'Form with problems',
  mail: 'Check your email',
  verify: 'Link in the mail',
  unverified: 'Joined, email not confirmed',
  joined: 'Joined',
  leaving: 'Link to leave',
  left: 'Off the list',
  offer: 'Link of an offer',
  accepted: 'Offer accepted',
  turn: 'Let in',
  offered: 'A spot is offered',
  declined: 'Offer declined',
  closed: 'Closed',
};

/** The page or the widget as the settings that are not saved yet make it. Drawn by the components of both. */
export function Preview({
  waitlist,
  state,
  onState,
}: {
  waitlist: PreviewedWaitlist;
  state: PreviewState;
  onState: (state: PreviewState) => void;
}) {
  const [target, setTarget] = useState<PreviewTarget>('page');
  const [device, setDevice] = useState<'phone' | 'desktop'>('phone');
  const [scheme, setScheme] = useState<'light' | 'dark'>('light');
  const box = useElementSize();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setIsLoaded] = useState(false);
  const [height, setHeight] = useState(HEIGHT_MIN);
  const width = WIDTHS[target][device];
  const catalog = useCatalog(waitlist.lang);

  useEffect(() => {
    const page = frame.current?.contentDocument;
    if (!page || !isLoaded) return;
    renderPreview(page, { waitlist, catalog, target, state, scheme });
    const measure = () => {
      const content = page.body.firstElementChild?.getBoundingClientRect();
      if (content) setHeight(Math.max(HEIGHT_MIN, Math.ceil(content.bottom + page.documentElement.scrollTop) + 32));
    };
    measure();
    // The logo arrives later.
    const observer = new ResizeObserver(measure);
    if (page.body.firstElementChild) observer.observe(page.body.firstElementChild);
    return () => observer.disconnect();
  }, [isLoaded, waitlist, catalog, target, state, scheme, width]);

  const scale = box.width === 0 ? 1 : Math.min(1, (box.width - 2) / width);
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Choice label="What to show" value={target} onChange={setTarget} options={{ page: 'Page', widget: 'Widget' }} />
        <Choice label="Width" value={device} onChange={setDevice} options={{ phone: 'Phone', desktop: 'Desktop' }} />
        <Choice label="Colors" value={scheme} onChange={setScheme} options={{ light: 'Light', dark: 'Dark' }} />
        <NativeSelect
          aria-label="State"
          size="xs"
          data={Object.entries(STATES).map(([value, label]) => ({ value, label }))}
          value={state}
          onChange={({ currentTarget }) => onState(currentTarget.value as PreviewState)}
        />
      </Group>
      <div ref={box.ref}>
        <div className={classes.stage} style={{ width: width * scale + 2, height: height * scale + 2 }}>
          {/* A picture: what it says is in the fields beside it. */}
          <iframe
            ref={frame}
            className={classes.frame}
            title="Preview"
            srcDoc={DOCUMENT}
            inert
            onLoad={() => setIsLoaded(true)}
            width={width}
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
