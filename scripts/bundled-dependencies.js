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

/** CommonJS packages of many files; @nestjs/mapped-types requires them, so they stay CommonJS. */
export const BUNDLED_COMMONJS = ['class-validator'];
