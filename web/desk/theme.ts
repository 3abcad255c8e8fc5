import { createTheme, type CSSVariablesResolver } from '@mantine/core';

/**
 * Quiet: system fonts, one accent color, and one scale of text: 24 px for pages, 18 px for parts and dialogs, 16 px for
 * lists, 14 px for all else, 12 px for notes. The widths stand in desk.css.
 */
export const theme = createTheme({
  primaryColor: 'indigo',
  // The lightest on which white text has the contrast of WCAG AA.
  primaryShade: 8,
  defaultRadius: 'md',
  fontFamily: 'system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, monospace',
  fontSizes: { xs: '12px', sm: '14px', md: '16px', lg: '18px', xl: '24px' },
  headings: {
    fontWeight: '600',
    sizes: { h2: { fontSize: '24px' }, h4: { fontSize: '18px' }, h5: { fontSize: '16px' } },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  autoContrast: true,
  components: {
    Badge: { defaultProps: { tt: 'none' } },
    ColorPicker: { defaultProps: { saturationLabel: 'Saturation and lightness', hueLabel: 'Hue' } },
    // Its element of role presentation may not stand in a menu.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // A <header> in a dialog would be a banner of the page.
    ModalHeader: { defaultProps: { role: 'none' } },
    DrawerHeader: { defaultProps: { role: 'none' } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show password', tabIndex: 0 } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
  },
});

const RED = {
  '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
  '--mantine-color-red-filled-hover': 'color-mix(in srgb, var(--mantine-color-red-9) 88%, black)',
};

/** Styles of an input for a number or a code: its label and description may be wider. */
export const SHORT_INPUT = { wrapper: { maxWidth: 'var(--width-short)' } } as const;

/** For `attributes` of fields for texts in the language of a page. Mantine sets `dir` on an element around them. */
export const OWN_DIRECTION = { input: { dir: 'auto' } };

/** Mantine's own are too pale for the contrast of WCAG AA. */
export const colorVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...RED,
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-orange-light-color': 'color-mix(in srgb, var(--mantine-color-orange-9) 80%, black)',
    '--mantine-color-teal-light-color': 'color-mix(in srgb, var(--mantine-color-teal-9) 80%, black)',
    '--mantine-color-indigo-light-hover': 'var(--mantine-color-indigo-light)',
    '--mantine-color-red-light-hover': 'var(--mantine-color-red-light)',
  },
  dark: {
    ...RED,
    // Mantine's own is nearly white, so that a button that deletes would look like any other.
    '--mantine-color-red-light-color': 'var(--mantine-color-red-3)',
    '--mantine-color-red-light': 'color-mix(in srgb, var(--mantine-color-red-8) 20%, var(--mantine-color-body))',
    '--mantine-color-orange-light': 'color-mix(in srgb, var(--mantine-color-orange-8) 20%, var(--mantine-color-body))',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
