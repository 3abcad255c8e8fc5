import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The widget: one script without modules, because one tag must load it in any page. */
export default defineConfig({
  root: here('.'),
  // Copied as they are.
  publicDir: here('demo'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: here('../../dist/web/widget'),
    emptyOutDir: true,
    target: 'es2022',
    // Older targets would replace light-dark(), and then the widget could not follow the scheme of its page.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    rolldownOptions: {
      input: here('widget.tsx'),
      output: { format: 'iife', entryFileNames: 'widget.js' },
    },
  },
});
