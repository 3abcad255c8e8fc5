import { availableParallelism } from 'node:os';
import { BUNDLED, BUNDLED_COMMONJS } from './scripts/bundled-dependencies.js';

const WORKERS_MAX = 4;

const swc = (module, syntax = {}) => ({
  swcrc: false,
  module: { type: module },
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true, ...syntax },
    // As in tsconfig.json.
    transform: {
      legacyDecorator: true,
      decoratorMetadata: true,
      useDefineForClassFields: false,
      react: { runtime: 'automatic', importSource: 'preact' },
    },
    keepClassNames: true,
    experimental: { keepImportAttributes: true },
  },
});

// Below Node.js 24.9 Jest cannot `require` an ES module, and a CommonJS package we use requires this one.
const REQUIRED_ESM = 'cookie';

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  testSequencer: '<rootDir>/test/support/jest/sequencer.cjs',
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Jest loads each file anew for each suite: bundled, a suite that starts the service takes half a second less.
    [`^(${[...BUNDLED, ...BUNDLED_COMMONJS].join('|')})$`]: '<rootDir>/dist/node_modules/$1/index.js',
  },
  transform: {
    '\\.ts$': ['@swc/jest', swc('es6')],
    '\\.tsx$': ['@swc/jest', swc('es6', { tsx: true })],
    [`/node_modules/(${REQUIRED_ESM})/.*\\.js$`]: ['@swc/jest', swc('commonjs')],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${REQUIRED_ESM})/)`],
  modulePathIgnorePatterns: ['<rootDir>/dist/src/'],
  // One more than cores, because some suites mostly wait: for processes, timeouts and limits.
  maxWorkers: Math.min(WORKERS_MAX, availableParallelism() + 1),
  // Ends a test that hangs, but no slow one, even on a busy machine.
  testTimeout: 240_000,
};
