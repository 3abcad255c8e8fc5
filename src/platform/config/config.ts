import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import parseAddresses from 'nodemailer/lib/addressparser';
import { z } from 'zod';
import { emailKey } from '../contract/email.js';
import { HTTP_URL_RULE, isHttpUrl, percentDecoded } from '../contract/formats.js';
import { fitsPasswordRule, PASSWORD_RULE } from '../contract/password-rule.js';
import { parseIssuer, parseRoles } from './sso.js';

const SECRET_BYTES_MIN = 32;
const DATA_DIRECTORY = 'data';
/** Connections per process. Writers queue before the pool, so more connections would only add switching costs. */
const POOL_SIZE = 10;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const SHUTDOWN_DELAY_SECONDS = 5;
/** A repeat of a write with an `Idempotency-Key` reads its audit event for a day. */
const AUDIT_DAYS_MIN = 2;
const AUDIT_DAYS = 400;

/** The settings from the environment, parsed once at start. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/** The injection token of {@link Config}. */
export const CONFIG = Symbol('CONFIG');

export type DatabaseConfig = ReturnType<typeof completeDatabase>;

/** The message has one line per wrong variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const list = z
  .string()
  .default('')
  .transform((value) => value.split(',').flatMap((item) => item.trim() || []));
const digits = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const numberBetween = (min: number, max: number) =>
  digits.pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
const wholeNumber = (fallback: number, min: number, max: number) => numberBetween(min, max).default(fallback);
const flag = (fallback: 'true' | 'false') =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .default(fallback)
    .transform((value) => value === 'true');
const emailAddress = z.string().refine((value) => emailKey(value) !== null, 'must be an email address');
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const networks = list.refine((items) => items.every((item) => network.safeParse(item).success), {
  error: 'must be a comma-separated list of IP addresses or networks',
  abort: true,
});
/** With a network of all addresses, each client could choose its own address. */
const isEveryAddress = (item: string) => item.endsWith('/0');
const isOrigin = (value: string) => URL.canParse(value) && new URL(value).origin === value;

const httpUrl = z.string().refine(isHttpUrl, HTTP_URL_RULE);
/** Below these paths the service has the paths that it has at the root: `/api/v1/waitlist/1` and `/waitlist/1`. */
const OWN_BASE = /^https?:\/\/[^/]+\/(desk|api\/v1)(\/|$)/;
/** The only protocol built in; with another name, OpenTelemetry would silently send nothing. */
const otlpProtocol = z.literal('http/protobuf', 'must be http/protobuf').optional();

/** Without a query: its options would override ours, which keep a dead server from delaying requests. */
const REDIS_URL = /^rediss?:\/\/[^/?#]+(\/\d{0,5})?$/;

const SMTP_FORM = 'must be smtp://user:password@host:port, or smtps:// for TLS from the start';

const DAY_SECONDS = 86_400;
/** The text of a button has room for it. */
const SSO_NAME_LENGTH_MAX = 60;
/** A login ends after this time, however often it is renewed, so no token needs to live longer. */
export const LOGIN_LIFETIME_SECONDS = 90 * DAY_SECONDS;

/** Each may come from a file instead, which `NAME_FILE` names. */
export const SECRETS = [
  'JWT_SECRET',
  'DATABASE_URL',
  'DATABASE_USER',
  'DATABASE_PASSWORD',
  'OWNER_PASSWORD',
  'SMTP_URL',
  'REDIS_URL',
  'OIDC_CLIENT_SECRET',
];

const Environment = z.object({
  PORT: wholeNumber(3000, 1, 65_535),
  HOST: z.string().default('0.0.0.0'),
  METRICS_PORT: numberBetween(1, 65_535).optional(),
  DATABASE_URL: z.string().optional().transform(parseDatabaseUrl),
  DATABASE_USER: z.string().optional(),
  DATABASE_PASSWORD: z.string().optional(),
  DATABASE_TLS_CERT_FILE: z.string().transform(readText).optional(),
  DATABASE_TLS_KEY_FILE: z.string().transform(readText).optional(),
  JWT_SECRET: list
    .refine((secrets) => secrets.every((secret) => Buffer.byteLength(secret) >= SECRET_BYTES_MIN), {
      error: `each secret must have at least ${SECRET_BYTES_MIN} bytes`,
      abort: true,
    })
    .refine((secrets) => !secrets.some(isRepetition), 'a secret must not be one text repeated'),
  ACCESS_TOKEN_TTL: wholeNumber(3600, 1, 30 * DAY_SECONDS),
  REFRESH_TOKEN_TTL: wholeNumber(30 * DAY_SECONDS, 1, LOGIN_LIFETIME_SECONDS),
  OWNER_EMAIL: emailAddress.optional(),
  OWNER_PASSWORD: z.string().refine(fitsPasswordRule, PASSWORD_RULE).optional(),
  PUBLIC_BASE_URL: httpUrl
    .refine(
      (value) => !OWN_BASE.test(value),
      'its path must not begin with /desk or /api/v1, which are paths of the service',
    )
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  TRUST_PROXY: networks.refine(
    (items) => !items.some(isEveryAddress),
    'must not be a network of all addresses (/0): each client could choose its own address',
  ),
  RATE_LIMIT_PUBLIC: wholeNumber(600, 0, 1_000_000),
  RATE_LIMIT_LOGIN: wholeNumber(10, 0, 1_000_000),
  RATE_LIMIT_EXEMPT: networks,
  LIVE_CONNECTIONS: wholeNumber(5_000, 0, 100_000),
  REDIS_URL: z
    .string()
    // The message must not repeat the value, which can hold a password.
    .refine(
      (value) => REDIS_URL.test(value) && URL.canParse(value),
      'must be redis://user:password@host:port/number, or rediss:// for TLS',
    )
    .optional(),
  CAPTCHA_VERIFY_URL: httpUrl.optional(),
  WEBHOOK_ALLOWED_NETWORKS: networks,
  CORS_ORIGINS: list.refine(
    (items) => items.every(isOrigin),
    'must be a comma-separated list of origins such as https://example.com',
  ),
  SMTP_URL: z.string().transform(parseSmtpUrl).optional(),
  MAIL_FROM: z.string().transform(parseSender).optional(),
  PASSWORD_LOGIN: flag('true'),
  OIDC_ISSUER: z.string().trim().transform(parseIssuer).optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_NAME: z
    .string()
    .trim()
    .max(SSO_NAME_LENGTH_MAX, `must have at most ${SSO_NAME_LENGTH_MAX} characters`)
    .optional(),
  OIDC_SCOPES: z
    .string()
    .default('openid email profile')
    .transform((value) => value.split(/\s+/).filter(Boolean))
    .refine((scopes) => scopes.includes('openid'), 'must be a list, with spaces between, that has openid'),
  OIDC_ACCOUNT: emailAddress.optional(),
  OIDC_ROLE_CLAIM: z.string().trim().optional(),
  OIDC_ROLES: z.string().transform(parseRoles).optional(),
  OIDC_TRUST_EMAIL: flag('false'),
  AUDIT_DAYS: wholeNumber(AUDIT_DAYS, AUDIT_DAYS_MIN, 3_650),
  AUDIT_LOG: z.literal('stdout', 'must be stdout').optional(),
  TRANSFER_DIR: z.string().refine(isWritableDirectory, 'must be a directory that this user may write to').optional(),
  DOCS_ENABLED: flag('true'),
  SHUTDOWN_DELAY: wholeNumber(SHUTDOWN_DELAY_SECONDS, 0, 300),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('warn'),
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').default('otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol,
});

/** The names of all variables. */
export const VARIABLES: readonly string[] = Object.keys(Environment.shape);

/**
 * Reads the environment. An empty variable counts as not set.
 * @throws ConfigError naming every wrong variable
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
  const { secrets, faults } = readSecretFiles(given);
  const parsed = Environment.safeParse({ ...given, ...secrets });
  const setBy = (name: string) => (name in secrets ? `${name}_FILE` : name);
  for (const { path, message } of parsed.error?.issues ?? []) faults.push(`${setBy(path.join('.'))}: ${message}`);
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join('\n'));
  const env = parsed.data;
  if (env.METRICS_PORT === env.PORT) throw new ConfigError('METRICS_PORT: must differ from PORT');
  if (env.SMTP_URL && !env.MAIL_FROM) throw new ConfigError('MAIL_FROM: is required with SMTP_URL');
  const database = completeDatabase(env, setBy);
  const sso = completeSso(env, setBy);
  const publicBaseUrl = env.PUBLIC_BASE_URL ?? `http://localhost:${env.PORT}`;
  return {
    port: env.PORT,
    host: env.HOST,
    /** The port of `/metrics`; undefined puts it on the port of the service. */
    metricsPort: env.METRICS_PORT,
    database,
    /** The first one signs tokens; all of them verify. */
    jwtSecrets: env.JWT_SECRET.length > 0 ? env.JWT_SECRET : [ownSecret(database)],
    accessTokenTtlSeconds: env.ACCESS_TOKEN_TTL,
    refreshTokenTtlSeconds: env.REFRESH_TOKEN_TTL,
    firstOwner: { email: env.OWNER_EMAIL, password: env.OWNER_PASSWORD },
    /** Whether members log in by passwords. */
    passwordLogin: env.PASSWORD_LOGIN,
    sso,
    publicBaseUrl,
    /** The path of `publicBaseUrl`, without a slash at its end. */
    basePath: new URL(publicBaseUrl).pathname.replace(/\/$/, ''),
    trustedProxies: env.TRUST_PROXY,
    /** Requests per minute and address; 0 turns a limit off. */
    rateLimits: { public: env.RATE_LIMIT_PUBLIC, login: env.RATE_LIMIT_LOGIN, exempt: env.RATE_LIMIT_EXEMPT },
    /** Streams of live places that the process may have open; 0 turns them off. */
    liveConnectionsMax: env.LIVE_CONNECTIONS,
    /** The Redis or Valkey that replicas share for counting. */
    redisUrl: env.REDIS_URL,
    /** Where captcha tokens are verified, in place of the address of their provider. */
    captchaVerifyUrl: env.CAPTCHA_VERIFY_URL,
    corsOrigins: env.CORS_ORIGINS,
    /** Networks of the operator's own that webhooks may call, by http too. */
    webhookAllowedNetworks: env.WEBHOOK_ALLOWED_NETWORKS,
    docsEnabled: env.DOCS_ENABLED,
    /** How long audit events are kept. */
    auditDays: env.AUDIT_DAYS,
    /** Where audit events are printed besides being stored; undefined for nowhere. */
    auditLog: env.AUDIT_LOG,
    /** The server that takes the mails, and their sender; null without one. */
    mail: env.SMTP_URL && env.MAIL_FROM ? { server: env.SMTP_URL, from: env.MAIL_FROM } : null,
    /** Where the files of imports and exports lie while they are in use. */
    transferDirectory: resolve(env.TRANSFER_DIR ?? tmpdir()),
    /** A stopping process serves for this time, so that load balancers notice. The embedded database has none. */
    shutdownDelaySeconds: given.SHUTDOWN_DELAY === undefined && database.kind === 'sqlite' ? 0 : env.SHUTDOWN_DELAY,
    logLevel: env.LOG_LEVEL,
    /** Whether spans are sent. OpenTelemetry reads its other variables itself. */
    sendsTraces:
      (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined &&
      env.OTEL_TRACES_EXPORTER !== 'none' &&
      env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true',
  };
}

function readSecretFiles(given: Readonly<Record<string, string | undefined>>) {
  const secrets: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of SECRETS) {
    const variable = `${name}_FILE`;
    if (given[variable] === undefined) continue;
    const { data, error } = z.string().transform(readText).safeParse(given[variable]);
    if (given[name] !== undefined) faults.push(`${variable}: ${name} is set too; set only one of them`);
    else if (data === undefined) faults.push(`${variable}: ${error.issues[0]?.message}`);
    else secrets[name] = data;
  }
  return { secrets, faults };
}

/** The text of a file without the newline at its end, which most editors and commands write. */
function readText(path: string, context: z.RefinementCtx): string {
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (text.trim()) return text;
    context.addIssue('the file is empty');
  } catch (error) {
    // The message must not repeat the path: by mistake, it can be the secret itself.
    context.addIssue(`the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return z.NEVER;
}

/** Whether the secret repeats a text of at most half its length: `xxxx`, `abcabca`. */
function isRepetition(secret: string): boolean {
  const periods = Array.from({ length: Math.floor(secret.length / 2) }, (_, index) => index + 1);
  return periods.some((period) => secret.startsWith(secret.slice(period)));
}

function isWritableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function parseDatabaseUrl(value: string | undefined, context: z.RefinementCtx) {
  if (value === undefined) return { kind: 'sqlite' as const, file: join(DATA_DIRECTORY, 'waitlist.sqlite') };
  if (value.startsWith('sqlite:')) {
    const file = value.slice('sqlite:'.length).replace(/^\/\/(?=.)/, '');
    if (file) return { kind: 'sqlite' as const, file };
  } else if (/^(mysql|mariadb):\/\//.test(value) && URL.canParse(value)) {
    const { hostname, port, username, password, pathname, searchParams } = new URL(value);
    const { connectionLimit = String(POOL_SIZE), ssl = 'false', ...unknown } = Object.fromEntries(searchParams);
    const poolSize = Number(connectionLimit);
    const poolFits = Number.isInteger(poolSize) && poolSize >= 2 && poolSize <= 1000;
    const optionsFit = /^(true|false)$/.test(ssl) && poolFits && Object.keys(unknown).length === 0;
    const [user, secret, database] = [username, password, pathname.slice(1)].map(percentDecoded);
    if (hostname && database && user !== undefined && secret !== undefined && optionsFit) {
      return {
        kind: 'mysql' as const,
        host: hostname,
        port: Number(port || 3306),
        username: user,
        password: secret,
        database,
        poolSize,
        tls: ssl === 'true',
      };
    }
  }
  // The message must not repeat the value, which holds a password.
  context.addIssue(
    'must be mysql://user:password@host:port/database?connectionLimit=2…1000&ssl=true|false or sqlite:<file>',
  );
  return z.NEVER;
}

/** The database of the URL with user, password and client certificate, which also have variables of their own. */
function completeDatabase(
  { DATABASE_URL: database, ...env }: z.infer<typeof Environment>,
  setBy: (name: string) => string,
) {
  if (database.kind === 'sqlite') {
    for (const name of [
      'DATABASE_USER',
      'DATABASE_PASSWORD',
      'DATABASE_TLS_CERT_FILE',
      'DATABASE_TLS_KEY_FILE',
    ] as const)
      if (env[name] !== undefined) throw new ConfigError(`${setBy(name)}: requires MySQL or MariaDB in DATABASE_URL`);
    return database;
  }
  const { DATABASE_USER: username = database.username, DATABASE_PASSWORD: password = database.password } = env;
  if (![username, ''].includes(database.username))
    throw new ConfigError(`${setBy('DATABASE_USER')}: differs from the user in DATABASE_URL`);
  if (![password, ''].includes(database.password))
    throw new ConfigError(`${setBy('DATABASE_PASSWORD')}: differs from the password in DATABASE_URL`);
  const clientCertificate = readClientCertificate(env.DATABASE_TLS_CERT_FILE, env.DATABASE_TLS_KEY_FILE, database.tls);
  return { ...database, username, password, clientCertificate };
}

/** The provider of single sign-on; null without one. */
function completeSso(env: z.infer<typeof Environment>, setBy: (name: string) => string) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  const { OIDC_ROLE_CLAIM: claim, OIDC_ROLES: rules } = env;
  requireTogether({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret }, setBy);
  requireTogether({ OIDC_ROLE_CLAIM: claim, OIDC_ROLES: rules }, setBy);
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    if (!env.PASSWORD_LOGIN) throw new ConfigError('PASSWORD_LOGIN: false requires OIDC_ISSUER: nobody could log in');
    return null;
  }
  return {
    issuer,
    clientId,
    clientSecret,
    /** What the button says after "Sign in with". */
    name: env.OIDC_NAME ?? new URL(issuer).host,
    scopes: env.OIDC_SCOPES,
    /** The email of an owner whose account everybody joins who signs in without an invitation. */
    account: env.OIDC_ACCOUNT,
    /** The claim with groups, and the roles that they give; null if roles are set at the desk alone. */
    roles: claim !== undefined && rules ? { claim, rules } : null,
    /** Whether an email of which the provider does not say so counts as verified. */
    trustsEmail: env.OIDC_TRUST_EMAIL,
  };
}

/** @throws ConfigError if some of the variables are set and others are not */
function requireTogether(values: Readonly<Record<string, unknown>>, setBy: (name: string) => string): void {
  const names = Object.keys(values);
  const given = names.find((name) => values[name] !== undefined);
  const missing = names.find((name) => values[name] === undefined);
  if (given !== undefined && missing !== undefined)
    throw new ConfigError(`${missing}: is required with ${setBy(given)}`);
}

function readClientCertificate(cert: string | undefined, key: string | undefined, tls: boolean) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined) throw new ConfigError('DATABASE_TLS_CERT_FILE: is required with DATABASE_TLS_KEY_FILE');
  if (key === undefined) throw new ConfigError('DATABASE_TLS_KEY_FILE: is required with DATABASE_TLS_CERT_FILE');
  if (!tls) throw new ConfigError('DATABASE_TLS_CERT_FILE: requires ssl=true in DATABASE_URL');
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new ConfigError(
      'DATABASE_TLS_KEY_FILE: must be the private key of the certificate in DATABASE_TLS_CERT_FILE, both in PEM and without a passphrase',
    );
  }
  return { cert, key };
}

function parseSmtpUrl(value: string, context: z.RefinementCtx) {
  if (/^smtps?:\/\//.test(value) && URL.canParse(value)) {
    const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(value);
    const [user, secret] = [username, password].map(percentDecoded);
    const hasMore = pathname.length > 1 || search !== '' || hash !== '';
    if (hostname && user !== undefined && secret !== undefined && !hasMore) {
      return {
        // An IPv6 address has brackets in a URL only.
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port === '' ? undefined : Number(port),
        secure: protocol === 'smtps:',
        auth: user === '' ? undefined : { user, pass: secret },
      };
    }
  }
  // The message must not repeat the value, which can hold a password.
  context.addIssue(SMTP_FORM);
  return z.NEVER;
}

function parseSender(value: string, context: z.RefinementCtx) {
  const [sender, ...others] = parseAddresses(value, { flatten: true });
  if (sender && others.length === 0 && emailKey(sender.address) !== null) return sender;
  context.addIssue('must be an email address, or a name and an address: Launch <launch@example.com>');
  return z.NEVER;
}

/** The embedded database has a secret next to its file. With a shared database, all replicas need the same one. */
function ownSecret(database: DatabaseConfig): string {
  if (database.kind === 'mysql') throw new ConfigError('JWT_SECRET: is required with MySQL (at least 32 bytes)');
  if (database.file === ':memory:') return randomBytes(SECRET_BYTES_MIN).toString('base64url');
  const directory = resolve(database.file, '..');
  const file = join(directory, 'jwt-secret');
  if (!existsSync(file)) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(file, randomBytes(SECRET_BYTES_MIN).toString('base64url'), { mode: 0o600, flag: 'wx' });
  }
  chmodSync(file, 0o600);
  const secret = readFileSync(file, 'utf8').trim();
  if (Buffer.byteLength(secret) < SECRET_BYTES_MIN)
    throw new ConfigError(
      `${file}: must have at least ${SECRET_BYTES_MIN} bytes; delete the file to create a new secret`,
    );
  return secret;
}
