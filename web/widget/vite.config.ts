import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Texts that only pages and mails show. */
const NOT_IN_WIDGET =
  /^(?:mail_|offer_(?!open$|declined$|expired$)|leave(?!_empty)|left|link_not_found|page_not_found|verify|contact$|bookmark$|description$|captcha_needs_script$|already_joined$|error_prefix$|invited_by$|in_line|you$|joined_as$|moved_up|others_|one_more$|estimate$|offered_(?:hint|button|text)$)/;

function textsIn(path: string): string {
  const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>);
  return JSON.stringify(Object.fromEntries(entries.filter(([key]) => !NOT_IN_WIDGET.test(key))));
}

/** The English texts are part of the script; those of another language are a file beside it. */
const catalogs: Plugin = {
  name: 'catalogs',
  enforce: 'pre',
  load: (id) => (id.endsWith('/catalogs/en.json') ? textsIn(id) : null),
  generateBundle() {
    const directory = here('../page/catalogs/');
    for (const name of readdirSync(directory).filter((file) => file.endsWith('.json')))
      this.emitFile({ type: 'asset', fileName: `texts/${name}`, source: textsIn(`${directory}${name}`) });
  },
};

/** The widget: one script without modules, because one tag must load it in any page. */
export default defineConfig({
  root: here('.'),
  // Copied as they are.
  publicDir: here('demo'),
  plugins: [catalogs],
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
