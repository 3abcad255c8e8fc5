/** What `npm run build` bundles, and the tests take from there: ES modules of many files. */
export const BUNDLED = [
  '@nestjs/common',
  '@nestjs/common/constants.js',
  '@nestjs/common/enums/route-paramtypes.enum.js',
  '@nestjs/core',
  '@nestjs/jwt',
  '@nestjs/passport',
  '@nestjs/platform-fastify',
  '@nestjs/swagger',
  '@nestjs/typeorm',
  'libphonenumber-js',
  'libphonenumber-js/max',
  'nanoid',
  'typeorm',
  'uuid',
  'zod',
];

/**
 * CommonJS packages of many files. They stay CommonJS, because other CommonJS packages may require them. None that must
 * exist once in a process, as @opentelemetry/api: the SDK has it from node_modules.
 */
export const BUNDLED_COMMONJS = ['class-validator', 'ioredis', 'passport-jwt', 'prom-client', 'rate-limiter-flexible'];
