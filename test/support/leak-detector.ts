interface Answer {
  readonly status: number;
  readonly headers: object;
  readonly text: string;
}

/** Fields that tell of a person or open something; all text within them counts. A key is no secret: faults name it. */
const PRIVATE: ReadonlySet<string> = new Set([
  'access_token',
  'answer_value',
  'api-key',
  'api_key',
  'authorization',
  'email',
  'first_name',
  'last_name',
  'metadata',
  'password',
  'phone',
  'referral_link',
  'referral_token',
  'refresh_token',
  'registered_email',
  'waitlist_api_key',
]);
/** Nobody is known by them or a piece of them, and faults speak of them: settings of `required_contact`, and the keys that are refused. */
const WORDS = ['required', 'optional', '__proto__', 'constructor.prototype'];
/** A phone that is nobody's, which faults give as an example. */
const EXAMPLE = 'such as +14155550123';
/** Shorter text stands in any line by chance. */
const LENGTH_MIN = 6;
const LEVELS_MAX = 20;

/** What is private in a body, a query or headers; in text that is no JSON, its addresses of email. */
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

/** The same of what is sent as it is, but for what is a key in it too. */
export function privateTextOf(raw: string): string[] {
  try {
    return privateText(JSON.parse(raw)).filter((text) => !raw.includes(`${JSON.stringify(text)}:`));
  } catch {
    return raw.match(/[^\s"<>{}[\],:]+@[^\s"<>{}[\],:]+/g) ?? [];
  }
}

/** The same of an address. */
export function privateTextOfUrl(url: string): string[] {
  return privateText(Object.fromEntries(new URLSearchParams(url.split('?', 2)[1])));
}

/** Throws where `text` repeats any of it, plainly or as it stands in JSON or an address, in letters of any case. */
export function requireSilence(where: string, text: string, secrets: Iterable<string>): void {
  const lower = text.replaceAll(EXAMPLE, '').toLowerCase();
  for (const secret of secrets) {
    const spellings = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
    if (spellings.some((spelling) => lower.includes(spelling.toLowerCase())))
      throw new Error(`${where} repeats ${JSON.stringify(secret)}:\n${text.slice(0, 2000)}`);
  }
}

/** Marks of what it is made of, and of how it failed. */
const INSIDES =
  /fastify|nest(?:js)?\b|express|typeorm|mysql|mariadb|sqlite|\bajv\b|node_modules|\.[jt]s:\d|\bSELECT\b.*\bFROM\b/i;

/** Throws where a refusal, or a header, tells what the service is made of: its parts, their versions, a stack, SQL. */
export function requireAnonymity({ status, headers, text }: Answer): void {
  const told = `${JSON.stringify(headers)}${status >= 400 ? text : ''}`;
  if (INSIDES.test(told)) throw new Error(`${status} tells of its insides: ${told.slice(0, 2000)}`);
}

/** What a service wrote to its log, each kind of line once, and what nobody may read there. */
export class LeakDetector {
  private readonly lines = new Set<string>();
  private readonly secrets = new Set<string>();

  /** A line of the log; its time, id and duration differ each time and tell nothing. */
  write(line: string): void {
    this.lines.add(line.replaceAll(/"time":"[^"]*"|"reqId":"[\w-]{36}"|"durationMs":[\d.]+/g, '""'));
  }

  keep(secrets: Iterable<string>): void {
    for (const secret of secrets) this.secrets.add(secret);
  }

  /** Throws where the framework told of a request that was answered twice. */
  requireOneAnswerEach(): void {
    const line = [...this.lines].find((text) => text.includes('FST_ERR_REP_ALREADY_SENT'));
    if (line !== undefined) throw new Error(`A request was answered twice: ${line}`);
  }

  /** Throws where the log, or `metrics`, repeats what calls and answers held of people and secrets. */
  check(metrics: string): void {
    requireSilence('The log', [...this.lines].join(''), this.secrets);
    requireSilence('/metrics', metrics.replaceAll(/^# .*\n/gm, ''), this.secrets);
  }
}
