import { describe, expect, it } from '@jest/globals';
import { ConfigError, readConfig } from './config.js';

const MEMORY = { DATABASE_URL: 'sqlite::memory:' };
const MYSQL = 'mysql://ada:p%40ss@db.example/waitlist';
const SECRET = 'a-secret-of-more-than-32-bytes-for-tests';
const DATABASE_URL_RULE =
  'must be mysql://user:password@host:port/database?connectionLimit=2…1000&ssl=true|false or sqlite:<file>';

describe('configuration', () => {
  it.each([
    ['PORT', 'http', 'must be a whole number'],
    ['PORT', '0', 'must be at least 1'],
    ['PORT', '70000', 'must be at most 65535'],
    ['DATABASE_URL', 'postgres://localhost/waitlist', DATABASE_URL_RULE],
    ['DATABASE_URL', 'sqlite:', DATABASE_URL_RULE],
    ['DATABASE_URL', 'mysql://localhost', DATABASE_URL_RULE],
    ['DATABASE_URL', `${MYSQL}?connectionLimit=1`, DATABASE_URL_RULE],
    ['DATABASE_URL', `${MYSQL}?ssl=maybe`, DATABASE_URL_RULE],
    ['DATABASE_URL', `${MYSQL}?multipleStatements=true`, DATABASE_URL_RULE],
    ['JWT_SECRET', 'short', 'each secret must have at least 32 bytes'],
    ['JWT_SECRET', `${SECRET},short`, 'each secret must have at least 32 bytes'],
    ['ACCESS_TOKEN_TTL', '0', 'must be at least 1'],
    ['REFRESH_TOKEN_TTL', '1h', 'must be a whole number'],
    ['OWNER_EMAIL', 'nobody', 'must be an email address'],
    ['OWNER_PASSWORD', 'short', 'must have 15 to 256 characters'],
    ['PUBLIC_BASE_URL', 'example.com', 'must be an http or https URL'],
    ['TRUST_PROXY', 'everyone', 'must be IP addresses or networks, comma-separated'],
    ['RATE_LIMIT_PUBLIC', '-1', 'must be a whole number'],
    ['RATE_LIMIT_LOGIN', '1.5', 'must be a whole number'],
    ['RATE_LIMIT_EXEMPT', '10.0.0.0/33', 'must be IP addresses or networks, comma-separated'],
    ['CORS_ORIGINS', 'example.com', 'must be origins such as https://example.com, comma-separated'],
  ])('refuses %s=%s in one line that names the variable', (name, value, message) => {
    expect(() => readConfig({ ...MEMORY, [name]: value })).toThrow(new ConfigError(`${name}: ${message}`));
  });

  it('reports every wrong variable, each in a line', () => {
    expect(() => readConfig({ ...MEMORY, PORT: 'x', REFRESH_TOKEN_TTL: 'y' })).toThrow(
      new ConfigError('PORT: must be a whole number\nREFRESH_TOKEN_TTL: must be a whole number'),
    );
  });

  it('takes a variable that is empty for one that is not set', () => {
    expect(readConfig({ ...MEMORY, PORT: '', HOST: ' ', CORS_ORIGINS: '' })).toMatchObject({
      port: 3000,
      host: '0.0.0.0',
      publicBaseUrl: 'http://localhost:3000',
      corsOrigins: [],
    });
  });

  it('requires a JWT_SECRET with MySQL', () => {
    expect(() => readConfig({ DATABASE_URL: MYSQL })).toThrow(
      new ConfigError('JWT_SECRET: is required with MySQL (32 bytes or more)'),
    );
  });

  it('reads a MySQL URL with its options', () => {
    expect(readConfig({ DATABASE_URL: MYSQL, JWT_SECRET: SECRET }).database).toEqual({
      kind: 'mysql',
      host: 'db.example',
      port: 3306,
      username: 'ada',
      password: 'p@ss',
      database: 'waitlist',
      poolSize: 10,
      tls: false,
    });
    expect(
      readConfig({ DATABASE_URL: `${MYSQL}?connectionLimit=40&ssl=true`, JWT_SECRET: SECRET }).database,
    ).toMatchObject({ poolSize: 40, tls: true });
  });

  it('keeps the secrets in their order, the first to sign with', () => {
    expect(readConfig({ ...MEMORY, JWT_SECRET: `${SECRET}-2, ${SECRET}-1` }).jwtSecrets).toEqual([
      `${SECRET}-2`,
      `${SECRET}-1`,
    ]);
  });
});
