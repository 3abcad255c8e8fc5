import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Config, readConfig, SECRETS } from './config.js';

const SECRET = 'one-secret-of-thirty-two-letters';
const EMBEDDED = { DATABASE_URL: 'sqlite::memory:' };
const MYSQL = 'mysql://waitlist:pass@db.example:3307/waitlist';

type Environment = Record<string, string>;

const read = (environment: Environment): Config => readConfig({ ...EMBEDDED, JWT_SECRET: SECRET, ...environment });

function errorsOf(environment: Environment): string {
  try {
    read(environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('The settings are valid');
}

describe('settings', () => {
  it('have defaults', () => {
    expect(read({})).toEqual({
      port: 3000,
      host: '0.0.0.0',
      metricsPort: undefined,
      database: { kind: 'sqlite', file: ':memory:' },
      jwtSecrets: [SECRET],
      accessTokenTtlSeconds: 3600,
      refreshTokenTtlSeconds: 30 * 86_400,
      firstOwner: { email: undefined, password: undefined },
      passwordLogin: true,
      sso: null,
      publicBaseUrl: 'http://localhost:3000',
      basePath: '',
      trustedProxies: [],
      rateLimits: { public: 600, login: 10, exempt: [] },
      redisUrl: undefined,
      captchaVerifyUrl: undefined,
      webhookAllowedNetworks: [],
      corsOrigins: [],
      docsEnabled: true,
      auditDays: 400,
      liveConnectionsMax: 5000,
      mail: null,
      transferDirectory: tmpdir(),
      shutdownDelaySeconds: 0,
      logLevel: 'warn',
      sendsTraces: false,
    });
  });

  it('default to the embedded database in ./data', () => {
    expect(readConfig({ JWT_SECRET: SECRET }).database).toEqual({
      kind: 'sqlite',
      file: join('data', 'waitlist.sqlite'),
    });
  });

  it('treat an empty variable as not set', () => {
    const names = [
      'PORT', 'HOST', 'METRICS_PORT', 'ACCESS_TOKEN_TTL', 'REFRESH_TOKEN_TTL', 'OWNER_EMAIL', 'OWNER_PASSWORD', 'PUBLIC_BASE_URL',
      'TRUST_PROXY', 'RATE_LIMIT_PUBLIC', 'RATE_LIMIT_LOGIN', 'RATE_LIMIT_EXEMPT', 'LIVE_CONNECTIONS', 'REDIS_URL', 'CAPTCHA_VERIFY_URL', 'CORS_ORIGINS', 'TRANSFER_DIR',
      'SMTP_URL', 'MAIL_FROM', 'WEBHOOK_ALLOWED_NETWORKS', 'DATABASE_USER', 'DATABASE_PASSWORD', 'DATABASE_TLS_CERT_FILE', 'DATABASE_TLS_KEY_FILE',
      'PASSWORD_LOGIN', 'OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_NAME', 'OIDC_SCOPES', 'OIDC_ACCOUNT', 'OIDC_ROLE_CLAIM', 'OIDC_ROLES', 'OIDC_TRUST_EMAIL',
      ...SECRETS.map((name) => `${name}_FILE`),
    ]; // prettier-ignore
    expect(read(Object.fromEntries(names.map((name) => [name, ' '])))).toEqual(read({}));
  });

  it.each<[Environment, Partial<Config>]>([
    [{ PORT: '8080' }, { port: 8080, publicBaseUrl: 'http://localhost:8080' }],
    [{ PORT: '1' }, { port: 1 }],
    [{ HOST: '::1' }, { host: '::1' }],
    [{ METRICS_PORT: '9464' }, { metricsPort: 9464 }],
    [{ JWT_SECRET: `${SECRET}, ${SECRET}-2` }, { jwtSecrets: [SECRET, `${SECRET}-2`] }],
    [{ JWT_SECRET: 'àâäéèêëîïôöùûüÿç' }, { jwtSecrets: ['àâäéèêëîïôöùûüÿç'] }],
    [{ ACCESS_TOKEN_TTL: '60' }, { accessTokenTtlSeconds: 60 }],
    [{ REFRESH_TOKEN_TTL: '7776000' }, { refreshTokenTtlSeconds: 90 * 86_400 }],
    [
      { OWNER_EMAIL: 'me@example.com', OWNER_PASSWORD: ' a pass word of mine ' },
      { firstOwner: { email: 'me@example.com', password: ' a pass word of mine ' } },
    ],
    [
      { PUBLIC_BASE_URL: 'https://wait.example.com/wait/' },
      { publicBaseUrl: 'https://wait.example.com/wait', basePath: '/wait' },
    ],
    [{ TRUST_PROXY: '10.0.0.0/8, ::1' }, { trustedProxies: ['10.0.0.0/8', '::1'] }],
    [
      { RATE_LIMIT_PUBLIC: '0', RATE_LIMIT_LOGIN: '1000000', RATE_LIMIT_EXEMPT: '192.0.2.7,2001:db8::/32' },
      { rateLimits: { public: 0, login: 1_000_000, exempt: ['192.0.2.7', '2001:db8::/32'] } },
    ],
    [{ LIVE_CONNECTIONS: '0' }, { liveConnectionsMax: 0 }],
    [{ REDIS_URL: 'redis://redis' }, { redisUrl: 'redis://redis' }],
    [{ CAPTCHA_VERIFY_URL: 'https://captcha.example/verify' }, { captchaVerifyUrl: 'https://captcha.example/verify' }],
    [{ REDIS_URL: 'rediss://user:p%40ss@[::1]:6380/2' }, { redisUrl: 'rediss://user:p%40ss@[::1]:6380/2' }],
    [
      { CORS_ORIGINS: 'https://app.example.com, http://localhost:5173,' },
      { corsOrigins: ['https://app.example.com', 'http://localhost:5173'] },
    ],
    [{ TRANSFER_DIR: '/' }, { transferDirectory: '/' }],
    [{ DATABASE_URL: 'sqlite:/var/lib/w.sqlite' }, { database: { kind: 'sqlite', file: '/var/lib/w.sqlite' } }],
    [{ DATABASE_URL: 'sqlite:///var/lib/w.sqlite' }, { database: { kind: 'sqlite', file: '/var/lib/w.sqlite' } }],
    [{ DATABASE_URL: 'sqlite:w.sqlite' }, { database: { kind: 'sqlite', file: 'w.sqlite' } }],
  ])('accept %j', (environment, expected) => {
    expect(read(environment)).toMatchObject(expected);
  });

  it.each([
    ['mysql://db.example/waitlist', { host: 'db.example', port: 3306, username: '', database: 'waitlist', tls: false }],
    [MYSQL, { port: 3307, username: 'waitlist', password: 'pass' }],
    ['mariadb://db.example/waitlist', { kind: 'mysql' }],
    [
      'mysql://us%40er:p%2Fa%3Ass@db.example/wait%20list',
      { username: 'us@er', password: 'p/a:ss', database: 'wait list' },
    ],
    [`${MYSQL}?connectionLimit=25&ssl=true`, { poolSize: 25, tls: true }],
  ])('read the database from %s', (url, expected) => {
    expect(read({ DATABASE_URL: url }).database).toMatchObject(expected);
  });

  it.each([
    ['mysql://db.example/waitlist', { username: 'app', password: 'p/a:ss%40' }],
    ['mysql://app@db.example/waitlist', { username: 'app', password: 'p/a:ss%40' }],
    ['mysql://app:p%2Fa%3Ass%2540@db.example/waitlist', { username: 'app', password: 'p/a:ss%40' }],
  ])('take the user and the password of their own variables as they are, with %s', (url, expected) => {
    const given = { DATABASE_URL: url, DATABASE_USER: 'app', DATABASE_PASSWORD: 'p/a:ss%40' };

    expect(read(given).database).toMatchObject(expected);
  });

  it.each([
    [{ DATABASE_URL: MYSQL, DATABASE_USER: 'other' }, 'DATABASE_USER: differs from the user in DATABASE_URL'],
    [
      { DATABASE_URL: MYSQL, DATABASE_PASSWORD: 'hunter2' },
      'DATABASE_PASSWORD: differs from the password in DATABASE_URL',
    ],
    [{ DATABASE_USER: 'app' }, 'DATABASE_USER: requires MySQL or MariaDB in DATABASE_URL'],
    [{ DATABASE_PASSWORD: 'hunter2' }, 'DATABASE_PASSWORD: requires MySQL or MariaDB in DATABASE_URL'],
  ])('refuse a user or password that the URL contradicts: %j', (environment, fault) => {
    expect(errorsOf(environment)).toBe(fault);
  });

  it.each([
    ['smtp://mail.example', { host: 'mail.example', port: undefined, secure: false, auth: undefined }],
    ['smtps://mail.example', { secure: true }],
    ['smtp://[::1]:2525/', { host: '::1', port: 2525 }],
    ['smtp://us%40er:p%2Fa%3Ass@mail.example:587', { auth: { user: 'us@er', pass: 'p/a:ss' }, port: 587 }],
  ])('read the mail server from %s', (url, expected) => {
    expect(read({ SMTP_URL: url, MAIL_FROM: 'a@example.com' }).mail?.server).toMatchObject(expected);
  });

  it.each([
    ['launch@example.com', { name: '', address: 'launch@example.com' }],
    ['"Launch, Inc." <launch@example.com>', { name: 'Launch, Inc.', address: 'launch@example.com' }],
  ])('read the sender of mails from %s', (from, expected) => {
    expect(read({ SMTP_URL: 'smtp://mail.example', MAIL_FROM: from }).mail?.from).toEqual(expected);
  });

  const OIDC = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'waitlist', OIDC_CLIENT_SECRET: 'of the client' };
  it('read single sign-on, with defaults', () => {
    const roles = { OIDC_ROLE_CLAIM: 'groups', OIDC_ROLES: 'urn:a b:owner, Launch:editor,*:viewer,' };

    expect(read(OIDC).sso).toEqual({
      issuer: 'https://id.example/',
      clientId: 'waitlist',
      clientSecret: 'of the client',
      name: 'id.example',
      scopes: ['openid', 'email', 'profile'],
      account: undefined,
      roles: null,
      trustsEmail: false,
    });
    expect(read({ ...OIDC, ...roles, PASSWORD_LOGIN: 'false' })).toMatchObject({
      passwordLogin: false,
      sso: {
        roles: {
          claim: 'groups',
          rules: [
            { group: 'urn:a b', role: 'owner' },
            { group: 'Launch', role: 'editor' },
            { group: '*', role: 'viewer' },
          ],
        },
      },
    });
  });

  it.each(['http://localhost:8080/realms/a', 'http://127.0.0.1', 'http://[::1]:8080', 'https://id.example/a/v2.0'])(
    'accept the issuer %s',
    (issuer) => {
      expect(read({ ...OIDC, OIDC_ISSUER: issuer }).sso?.issuer).toBe(new URL(issuer).href);
    },
  );

  it.each([
    [{ PASSWORD_LOGIN: 'false' }, 'PASSWORD_LOGIN: false requires OIDC_ISSUER: nobody could log in'],
    [{ ...OIDC, OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID: is required with OIDC_ISSUER'],
    [{ ...OIDC, OIDC_CLIENT_SECRET: '' }, 'OIDC_CLIENT_SECRET: is required with OIDC_ISSUER'],
    [{ OIDC_CLIENT_ID: 'waitlist' }, 'OIDC_ISSUER: is required with OIDC_CLIENT_ID'],
    [{ ...OIDC, OIDC_ROLE_CLAIM: 'groups' }, 'OIDC_ROLES: is required with OIDC_ROLE_CLAIM'],
    [{ ...OIDC, OIDC_ROLES: '*:viewer' }, 'OIDC_ROLE_CLAIM: is required with OIDC_ROLES'],
  ])('refuse a part of single sign-on: %j', (environment, fault) => {
    expect(errorsOf(environment)).toBe(fault);
  });

  it('require MAIL_FROM with SMTP_URL, and send no mail without a server', () => {
    expect(errorsOf({ SMTP_URL: 'smtp://mail.example' })).toBe('MAIL_FROM: is required with SMTP_URL');
    expect(read({ MAIL_FROM: 'a@example.com' }).mail).toBeNull();
  });

  it.each<[string, string[]]>([
    ['PORT', ['0', '80.5', '-1', '65536', 'http', '0x50', '1e3']],
    ['METRICS_PORT', ['0', '65536', 'yes', '3000']],
    ['DATABASE_URL', [
      'sqlite:', 'postgres://user:pass@host/db', 'mysql://', 'mysql://host', 'mysql://host/', 'mysql:///waitlist', 'w.sqlite',
      'mysql://host:99999/waitlist', `${MYSQL}?ssl=yes`, `${MYSQL}?connectionLimit=1`, `${MYSQL}?connectionLimit=1001`,
      `${MYSQL}?connectionLimit=2.5`, `${MYSQL}?connectionLimit=many`, `${MYSQL}?conectionLimit=5`, 'mysql://%ff@host/waitlist',
    ]],
    ['JWT_SECRET', [
      'short', `${SECRET},short`, SECRET.slice(1), 'aa', 's'.repeat(64), `${SECRET},${'s'.repeat(64)}`, 'changeme'.repeat(5), 'secret-'.repeat(5).slice(1),
    ]],
    ['ACCESS_TOKEN_TTL', ['0', '1h', '2592001']],
    ['REFRESH_TOKEN_TTL', ['0', '30d', '7776001']],
    ['OWNER_EMAIL', ['nobody', 'me@']],
    ['OWNER_PASSWORD', ['short', 'kd jhx qwz '.repeat(24)]],
    ['PUBLIC_BASE_URL', ['wait.example.com', 'ftp://example.com', 'https://', '/wait', 'https://a.example/desk', 'https://a.example/api/v1/']],
    ['TRUST_PROXY', ['true', '10.0.0.0/33', '10.0.0', 'localhost', '::1/129', '10.0.0.0/8/8', '10.0.0.0/', '10.0/0', '0.0.0.0/0', '10.0.0.0/8,::/0']],
    ['RATE_LIMIT_PUBLIC', ['-1', 'off', '1000001']],
    ['RATE_LIMIT_LOGIN', ['-1', 'off', '1000001']],
    ['RATE_LIMIT_EXEMPT', ['everyone', '10.0.0.0/33']],
    ['LIVE_CONNECTIONS', ['-1', 'off', '100001']],
    ['REDIS_URL', [
      'redis', 'redis:', 'http://redis', 'redis://redis:99999', 'redis://redis/cache', 'redis://redis?commandTimeout=9', 'redis://redis/0#x',
    ]],
    ['CAPTCHA_VERIFY_URL', ['captcha.example', 'ftp://captcha.example']],
    ['SMTP_URL', [
      'mail.example', 'smtp:', 'smtp://', 'http://mail.example', 'smtp://mail.example:99999', 'smtp://mail.example/x', 'smtp://mail.example?pool=true',
      'smtp://:%ff@mail.example',
    ]],
    ['MAIL_FROM', ['nobody', 'Launch <launch>', 'a@example.com, b@example.com', '<>']],
    ['OIDC_ISSUER', [
      'id.example', 'http://id.example', 'ftp://localhost', 'https://user@id.example', 'https://id.example?a', 'https://id.example#a',
      'https://id.example/.well-known/openid-configuration', 'https://login.example/Common/v2.0', 'https://login.example/organizations',
      `https://id.example/${'a'.repeat(240)}`, 'http://localhost.example',
    ]],
    ['OIDC_NAME', ['n'.repeat(61)]],
    ['OIDC_SCOPES', ['email', 'openid,email']],
    ['OIDC_ACCOUNT', ['nobody']],
    ['OIDC_ROLES', ['admins', 'admins:', ':owner', 'admins:boss', '*:viewer,x']],
    ['OIDC_TRUST_EMAIL', ['yes']],
    ['PASSWORD_LOGIN', ['off']],
    ['AUDIT_LOG', ['true', 'stderr', 'STDOUT', 'file']],
    ['TRANSFER_DIR', ['/no/such/directory', '/etc/passwd']],
    ['CORS_ORIGINS', ['*', 'example.com', 'https://example.com/', 'https://example.com/app', 'null']],
  ])('name %s if its value is wrong', (name, values) => {
    for (const value of values) expect(errorsOf({ [name]: value })).toMatch(new RegExp(`^${name}: [^\\n]+$`));
  }); // prettier-ignore

  it.each<[boolean, Environment]>([
    [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }],
    [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces', OTEL_TRACES_EXPORTER: 'otlp' }],
    [false, { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=x' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'TRUE' }],
  ])('send traces: %j, with %j', (expected, environment) => {
    expect(read(environment).sendsTraces).toBe(expected);
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https URL, other characters than ASCII percent-encoded',
    ],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: must be otlp or none'],
  ])('refuse settings that would silently send no traces: %j', (environment, fault) => {
    expect(errorsOf(environment)).toBe(fault);
  });

  it('have one error line per wrong variable', () => {
    const faults = errorsOf({
      PORT: 'x',
      TRUST_PROXY: 'x',
      RATE_LIMIT_PUBLIC: 'x',
      DATABASE_URL: 'x',
      JWT_SECRET: 'x',
    });

    expect(
      faults
        .split('\n')
        .map((line) => line.split(':')[0])
        .sort(),
    ).toEqual(['DATABASE_URL', 'JWT_SECRET', 'PORT', 'RATE_LIMIT_PUBLIC', 'TRUST_PROXY']);
  });

  it('are not repeated in errors if they are secret', () => {
    const wrong = {
      DATABASE_URL: 'mysql://user:hunter2@host',
      REDIS_URL: 'redis://:hunter2@host/x',
      SMTP_URL: 'smtp://user:hunter2@host/x',
      JWT_SECRET: 'hunter2',
    };
    expect(errorsOf(wrong)).not.toContain('hunter2');
    expect(errorsOf({ JWT_SECRET: '', JWT_SECRET_FILE: '/hunter2' })).not.toContain('hunter2');
  });
});

describe('a secret in a file', () => {
  let directory: string;
  const write = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'waitlist-secrets-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const values: Record<string, string> = {
    JWT_SECRET: SECRET,
    DATABASE_URL: 'mysql://db.example/waitlist',
    DATABASE_USER: 'app',
    DATABASE_PASSWORD: ' p/a:ss\n',
    OWNER_PASSWORD: 'a pass word of mine',
    SMTP_URL: 'smtp://user:pass@mail.example',
    REDIS_URL: 'redis://redis',
    OIDC_CLIENT_SECRET: 'of the client',
  };

  it('counts as its variable, without the newline at its end', () => {
    expect(Object.keys(values)).toEqual(SECRETS);
    for (const end of ['', '\n', '\r\n']) {
      const files = SECRETS.map((name) => [`${name}_FILE`, write(name, `${values[name]}${end}`)]);
      const more = { MAIL_FROM: 'a@example.com', OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'waitlist' };
      const expected = { ...values, ...(end === '' && { DATABASE_PASSWORD: ' p/a:ss' }), ...more };

      expect(readConfig({ ...Object.fromEntries(files), ...more })).toEqual(readConfig(expected));
    }
  });

  it.each(SECRETS)('is refused if %s is given twice, or its file is missing or empty', (name) => {
    const variable = `${name}_FILE`;
    const empty = write('empty', '\n');
    const missing = join(directory, 'none');
    const faultsOf = (given: Environment) => {
      try {
        readConfig(given);
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error('The settings are valid');
    };

    expect(faultsOf({ [name]: values[name]!, [variable]: write(name, values[name]!) })).toBe(
      `${variable}: ${name} is set too; set only one of them`,
    );
    expect(faultsOf({ [variable]: empty })).toBe(`${variable}: the file is empty`);
    expect(faultsOf({ [variable]: missing })).toBe(`${variable}: the file cannot be read (ENOENT)`);
    expect(faultsOf({ [variable]: directory })).toBe(`${variable}: the file cannot be read (EISDIR)`);
  });

  it('is not repeated if it is wrong, and its variable is named', () => {
    const file = write('wrong', 'hunter2');

    const faults = errorsOf({ SMTP_URL_FILE: file, JWT_SECRET: '', JWT_SECRET_FILE: file });

    expect(faults.split('\n').map((line) => line.split(':')[0])).toEqual(['JWT_SECRET_FILE', 'SMTP_URL_FILE']);
    expect(faults).not.toContain('hunter2');
  });

  it.each([
    [MYSQL, 'DATABASE_USER', 'differs from the user in DATABASE_URL'],
    [MYSQL, 'DATABASE_PASSWORD', 'differs from the password in DATABASE_URL'],
    ['sqlite::memory:', 'DATABASE_PASSWORD', 'requires MySQL or MariaDB in DATABASE_URL'],
  ])('is refused under the name of its file if %s contradicts it: %s', (DATABASE_URL, name, fault) => {
    const file = write('other', 'hunter2');

    expect(errorsOf({ DATABASE_URL, [`${name}_FILE`]: file })).toBe(`${name}_FILE: ${fault}`);
  });

  it.each([
    [{ DATABASE_TLS_CERT_FILE: 'a' }, 'DATABASE_TLS_KEY_FILE: is required with DATABASE_TLS_CERT_FILE'],
    [{ DATABASE_TLS_KEY_FILE: 'a' }, 'DATABASE_TLS_CERT_FILE: is required with DATABASE_TLS_KEY_FILE'],
    [{ DATABASE_TLS_CERT_FILE: 'a', DATABASE_TLS_KEY_FILE: 'a' }, 'DATABASE_TLS_KEY_FILE: must be the private key of the certificate in DATABASE_TLS_CERT_FILE, both in PEM and without a passphrase'],
    [{ DATABASE_TLS_CERT_FILE: 'a', DATABASE_TLS_KEY_FILE: 'a', DATABASE_URL: MYSQL }, 'DATABASE_TLS_CERT_FILE: requires ssl=true in DATABASE_URL'],
    [{ DATABASE_TLS_CERT_FILE: 'a', DATABASE_TLS_KEY_FILE: 'a', ...EMBEDDED }, 'DATABASE_TLS_CERT_FILE: requires MySQL or MariaDB in DATABASE_URL'],
  ])('is no client certificate of the database if it does not fit: %j', (environment, fault) => {
    const file = write('certificate', 'no certificate');
    const files = Object.entries(environment).map(([name, value]) => [name, value === 'a' ? file : value]);

    expect(errorsOf({ DATABASE_URL: `${MYSQL}?ssl=true`, ...Object.fromEntries(files) })).toBe(fault);
  }); // prettier-ignore
});

describe('the signing secret', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'waitlist-config-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('is required with MySQL', () => {
    expect(() => readConfig({ DATABASE_URL: MYSQL })).toThrow(/^JWT_SECRET: is required with MySQL/);
  });

  it('is created once next to the embedded database, readable by its user only', () => {
    const environment = { DATABASE_URL: `sqlite:${join(directory, 'new', 'w.sqlite')}` };
    const file = join(directory, 'new', 'jwt-secret');

    const first = readConfig(environment).jwtSecrets;
    const second = readConfig(environment).jwtSecrets;

    expect(second).toEqual(first);
    expect(first).toEqual([readFileSync(file, 'utf8')]);
    expect(Buffer.from(first[0] ?? '', 'base64url')).toHaveLength(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is refused if its file is too short', () => {
    const file = join(directory, 'jwt-secret');
    writeFileSync(file, 'x');

    expect(() => readConfig({ DATABASE_URL: `sqlite:${join(directory, 'w.sqlite')}` })).toThrow(
      `${file}: must have at least 32 bytes`,
    );
  });
});
