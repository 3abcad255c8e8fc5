import { availableParallelism } from 'node:os';

const WORKERS_MAX = 4;

const swc = (module) => ({
  swcrc: false,
  module: { type: module },
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    // As in tsconfig.json.
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
});

// Below Node.js 24.9 Jest cannot `require` an ES module, and CommonJS packages we use require these two.
const REQUIRED_ESM = 'content-disposition|cookie';

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Its ES modules import JSON in a way Jest warns about, a line for each.
    '^libphonenumber-js$': '<rootDir>/node_modules/libphonenumber-js/min/index.cjs',
    '^libphonenumber-js/(min|max|mobile|core)$': '<rootDir>/node_modules/libphonenumber-js/$1/index.cjs',
  },
  transform: {
    '\\.ts$': ['@swc/jest', swc('es6')],
    [`/node_modules/(${REQUIRED_ESM})/.*\\.js$`]: ['@swc/jest', swc('commonjs')],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${REQUIRED_ESM})/)`],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  maxWorkers: Math.min(WORKERS_MAX, availableParallelism()),
  // Ends a test that hangs, and none that is slow: also on a machine that is, and has other work.
  testTimeout: 240_000,
};
