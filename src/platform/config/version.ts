import { createRequire } from 'node:module';

/** Of package.json. `imports` there finds it from the sources and from the built service alike. */
export const { version: VERSION } = createRequire(import.meta.url)('#package.json') as { readonly version: string };
