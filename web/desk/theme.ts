import { createTheme } from '@mantine/core';

/** Quiet: system fonts, one accent color, three sizes of text. */
export const theme = createTheme({
  primaryColor: 'indigo',
  defaultRadius: 'md',
  fontFamily: 'system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, monospace',
  cursorType: 'pointer',
  respectReducedMotion: true,
  autoContrast: true,
});
