import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores([
    '**/.venv/',
    'coverage/',
    'data/',
    'dist/',
    'release/',
    'sdk/',
    'tools/contract/sdk/',
    'web/desk/generated/',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  // The formatter wraps code, but no comments.
  { rules: { 'max-len': ['error', { code: Number.MAX_SAFE_INTEGER, comments: 120, ignoreUrls: true }] } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      eqeqeq: 'error',
      // Files with decorators are left alone by this rule: the classes they inject must stay value imports.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Nest awaits what a handler returns; `async` there keeps a throw a rejection.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['web/desk/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    // Its other rules prepare for the React compiler, which the desk does not use.
    rules: { 'react-hooks/rules-of-hooks': 'error', 'react-hooks/exhaustive-deps': 'error' },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/platform/config/**', 'src/boot/{cli-services,shutdown}.ts', 'src/**/*.spec.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Settings are read once, in platform/config.' },
      ],
      'no-restricted-imports': [
        'error',
        { name: 'node:process', importNames: ['env'], message: 'Settings are read once, in platform/config.' },
      ],
    },
  },
  {
    // The body of an answer is `any` until the test says what it expects of it.
    files: ['test/**/*.ts', 'drills/**/*.ts', 'src/**/*.spec.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['test/**/*.ts', 'drills/**/*.ts'],
    ignores: ['test/support/api.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'Its answer would escape the contract: see callAt.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.property.name='inject']",
          message: 'Its answer would escape the contract: see Api.',
        },
      ],
    },
  },
  {
    files: ['src/platform/contract/docs/*.js'],
    languageOptions: {
      sourceType: 'script',
      globals: Object.fromEntries(
        ['document', 'history', 'location', 'matchMedia', 'sessionStorage', 'SwaggerUIBundle'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
  },
  {
    // Their packages may not be installed: `npm run test:web` checks their types.
    files: ['tools/web/**/*.ts'],
    extends: [tseslint.configs.disableTypeChecked],
  },
  {
    // Functions that run in the page.
    files: ['tools/web/docs.test.js', 'web/widget/demo/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        ['document', 'getComputedStyle', 'localStorage', 'location', 'sessionStorage'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
  },
  {
    files: ['**/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        ['clearTimeout', 'console', 'fetch', 'process', 'setTimeout', 'URL', 'URLSearchParams'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
  },
);
