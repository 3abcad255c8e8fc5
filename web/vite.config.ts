import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** The service that the development server passes requests on to. */
const SERVICE = process.env.SERVICE_URL ?? 'http://localhost:3000';

/** Keeps nothing of the contract but the bounds that it sets. */
const BOUNDS = ['maxItems', 'maxLength', 'maximum', 'minimum'];
const boundsOfContract: Plugin = {
  name: 'bounds-of-contract',
  enforce: 'pre',
  transform: {
    filter: { id: /openapi\.json$/ },
    handler: (text) =>
      JSON.stringify(
        JSON.parse(text, (key, value: unknown) => {
          const isPart = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
          return isPart || BOUNDS.includes(key) ? value : undefined;
        }),
      ),
  },
};

/** The desk. `vite web` serves it for development, beside a running service. */
export default defineConfig({
  root: here('desk'),
  plugins: [boundsOfContract],
  // Relative, because the service may be served below a path.
  base: './',
  build: {
    outDir: here('../dist/web/desk'),
    emptyOutDir: true,
    target: 'es2022',
    // Older targets would replace light-dark(), and then neither the desk nor its previews could choose their scheme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // One request for the desk's own code; the pages load theirs when they are opened.
    chunkSizeWarningLimit: 1_000,
    // Each file of the component library says "use client", which only frameworks with server components read.
    rolldownOptions: { onLog: (level, log, next) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && next(level, log) },
  },
  server: { proxy: { '/api': { target: SERVICE, changeOrigin: false } } },
});
