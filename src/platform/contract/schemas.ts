/** Whole numbers that JavaScript and 64-bit languages hold exactly. */
export const ID_SCHEMA = { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
export const COUNT_SCHEMA = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

export const TOKEN_SCHEMA = {
  type: String,
  pattern: '^[0-9A-HJKMNP-TV-Z]{12}$',
  maxLength: 12,
  example: '7ZZ0K3M9QXVB',
} as const;

export const UUID_SCHEMA = {
  format: 'uuid',
  maxLength: 36,
  example: '0199f2a4-5b6c-7def-8a90-123456789abc',
} as const;
