interface Answer {
  readonly status: number;
  readonly headers: object;
  readonly text: string;
}

/** Fields with personal data or credentials; all text inside them counts. Keys of objects do not: errors name them. */
const PRIVATE: ReadonlySet<string> = new Set([
  'access_token',
  'answer_value',
  'api-key',
  'api_key',
  'authorization',
  'code',
  'email',
  'first_name',
  'key',
  'invitation_url',
  'last_name',
  'metadata',
  'new_password',
  'offer_url',
  'otpauth_url',
  'password',
  'secret',
  'phone',
  'recovery_codes',
  'referral_link',
  'referral_token',
  'refresh_token',
  'registered_email',
  'reset_url',
  'token',
  'waitlist_api_key',
]);
/** Words that may stand in a private field and in an error alike: settings of `required_contact`, and refused keys. */
const WORDS = ['required', 'optional', '__proto__', 'constructor.prototype'];
/** The example phone number in error messages. */
const EXAMPLE = 'such as +14155550123';
/** Shorter text may occur in any line by chance. */
const LENGTH_MIN = 6;
const LEVELS_MAX = 20;

/** The private text in a body, a query or headers. */
export function privateText(value: unknown, isPrivate = false, level = 0): string[] {
  if (typeof value === 'string')
    return isPrivate && value.length >= LENGTH_MIN && !isOfWords(value.toLowerCase()) ? [value] : [];
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    privateText(inner, isPrivate || PRIVATE.has(key.toLowerCase()), level + 1),
  );
}

function isOfWords(text: string): boolean {
  return WORDS.some((word) => word.includes(text));
}

/** The private text in a raw body, without what is also a key in it; in text that is not JSON, its email addresses. */
export function privateTextOf(raw: string): string[] {
  try {
    return privateText(JSON.parse(raw)).filter((text) => !raw.includes(`${JSON.stringify(text)}:`));
  } catch {
    return raw.match(/[^\s"<>{}[\],:]+@[^\s"<>{}[\],:]+/g) ?? [];
  }
}

/** The private text in the query of a URL. */
export function privateTextOfUrl(url: string): string[] {
  return privateText(Object.fromEntries(new URLSearchParams(url.split('?', 2)[1])));
}

/** Throws if `text` contains a secret in any case, plain, JSON-escaped or percent-encoded. */
export function requireSilence(where: string, text: string, secrets: Iterable<string>): void {
  const lower = text.replaceAll(EXAMPLE, '').toLowerCase();
  for (const secret of secrets) {
    const spellings = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
    if (spellings.some((spelling) => lower.includes(spelling.toLowerCase())))
      throw new Error(`${where} repeats ${JSON.stringify(secret)}:\n${text.slice(0, 2000)}`);
  }
}

/** Traces of libraries, SQL or a stack. */
const INSIDES =
  /fastify|nest(?:js)?\b|express|typeorm|mysql|mariadb|sqlite|\bajv\b|node_modules|\.[jt]s:\d|\bSELECT\b.*\bFROM\b/i;

/** The random text of a cookie, a token or a nonce, which can spell anything. */
const RANDOM = /[\w-]{32,}/g;

/** Throws if an error or a header reveals the implementation: libraries, versions, a stack, SQL. */
export function requireAnonymity({ status, headers, text }: Answer): void {
  const told = `${JSON.stringify(headers)}${status >= 400 ? text : ''}`;
  if (INSIDES.test(told.replaceAll(RANDOM, '')))
    throw new Error(`${status} tells of its insides: ${told.slice(0, 2000)}`);
}

/** Collects the log lines of a service, each kind once, and the secrets that must not occur in them. */
export class LeakDetector {
  private readonly lines = new Set<string>();
  private readonly secrets = new Set<string>();

  /** Keeps a log line without its time, id and duration, which differ each time. */
  write(line: string): void {
    this.lines.add(line.replaceAll(/"time":"[^"]*"|"reqId":"[\w-]{36}"|"durationMs":[\d.]+/g, '""'));
  }

  /** The lines that contain a text. */
  find(text: string): string[] {
    return [...this.lines].filter((line) => line.includes(text));
  }

  keep(secrets: Iterable<string>): void {
    for (const secret of secrets) this.secrets.add(secret);
  }

  /** Throws if the framework logged a request that was answered twice. */
  requireOneAnswerEach(): void {
    const line = [...this.lines].find((text) => text.includes('FST_ERR_REP_ALREADY_SENT'));
    if (line !== undefined) throw new Error(`A request was answered twice: ${line}`);
  }

  /** Throws if the log or `metrics` contains personal data or secrets of the calls and answers. */
  check(metrics: string): void {
    requireSilence('The log', [...this.lines].join(''), this.secrets);
    requireSilence('/metrics', metrics.replaceAll(/^# .*\n/gm, ''), this.secrets);
  }
}
