import { createRequire } from 'node:module';

/** The version in package.json, whose `imports` finds the file from the sources and from the built service. */
export const { version: VERSION } = createRequire(import.meta.url)('#package.json') as { readonly version: string };
