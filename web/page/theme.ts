/** The custom properties that the owner's colors set, by their names in `configuration_style_json`. */
const PROPERTIES = {
  widget_background_color: '--waitlist-background',
  widget_button_color: '--waitlist-button',
  widget_button_font_color: '--waitlist-button-text',
  widget_font_color: '--waitlist-text',
  border_color: '--waitlist-border',
  status_font_color: '--waitlist-status-text',
  status_main_color: '--waitlist-status-main',
} as const;
type Property =
  | (typeof PROPERTIES)[keyof typeof PROPERTIES]
  | '--waitlist-muted'
  | '--waitlist-danger'
  | '--waitlist-danger-background';
const COLOR = /^#[\da-f]{6}$/i;

/** What shared.css has for each scheme. */
const PALETTES = {
  light: { background: '#ffffff', text: '#1a1d21', danger: '#b3261e' },
  dark: { background: '#17191d', text: '#eceef1', danger: '#ff9b93' },
} as const;

/** WCAG 2.2, AA, for text of the usual size. */
const CONTRAST_MIN = 4.5;

interface Theme {
  /** The scheme that the owner's colors belong to, for `data-scheme` on the root; null where both do. */
  readonly scheme: 'light' | 'dark' | null;
  readonly properties: Readonly<Partial<Record<Property, string>>>;
}

/**
 * The owner's colors: those of the seven names that are `#rrggbb`; all else is ignored. A text color that cannot be
 * read on its background is replaced by black or white.
 */
export function themeOf(style: Readonly<Record<string, unknown>>): Theme {
  const given: Partial<Record<Property, string>> = {};
  for (const [name, property] of Object.entries(PROPERTIES)) {
    const color = style[name];
    if (typeof color === 'string' && COLOR.test(color)) given[property] = color.toLowerCase();
  }
  const { '--waitlist-background': background, '--waitlist-text': text, '--waitlist-button': button } = given;
  // Without a background of the owner's, the scheme in which the owner's text can be read.
  const ink = text ?? given['--waitlist-status-text'] ?? given['--waitlist-status-main'];
  const inkScheme = ink ? (schemeOf(ink) === 'dark' ? 'light' : 'dark') : null;
  const scheme = background ? schemeOf(background) : inkScheme;
  const properties = { ...given };
  if (scheme) {
    const on = background ?? PALETTES[scheme].background;
    properties['--waitlist-text'] = readable(text ?? PALETTES[scheme].text, on);
    for (const name of ['--waitlist-status-text', '--waitlist-status-main'] as const)
      if (given[name]) properties[name] = readable(given[name], on);
    properties['--waitlist-danger'] = readable(PALETTES[scheme].danger, on);
  }
  if (background) {
    properties['--waitlist-muted'] = 'var(--waitlist-text)';
    properties['--waitlist-danger-background'] = background;
    properties['--waitlist-border'] ??= 'color-mix(in srgb, var(--waitlist-text) 60%, transparent)';
  }
  if (button) properties['--waitlist-button-text'] = readable(given['--waitlist-button-text'] ?? '#ffffff', button);
  return { scheme, properties };
}

function schemeOf(background: string): 'light' | 'dark' {
  return contrast('#ffffff', background) > contrast('#000000', background) ? 'dark' : 'light';
}

function readable(text: string, background: string): string {
  if (contrast(text, background) >= CONTRAST_MIN) return text;
  return schemeOf(background) === 'dark' ? '#ffffff' : '#000000';
}

/** WCAG's contrast ratio, 1 to 21. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = parseInt(color.slice(start, start + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
